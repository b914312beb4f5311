import { z } from 'zod'
import { Counts } from './live.ts'
import { instant, json, named, SettingPause, whole } from './schema.ts'

export const Workflows = named(
  'Workflows',
  z.object({
    workflows: z.array(
      z.object({
        name: z.string(),
        ...{ pausedBy: SettingPause.optional(), closedBy: SettingPause.optional() },
        versions: z.array(
          z.object({
            version: z.string(),
            kind: z.enum(['function', 'plan']).optional(),
            /** By POST /tasks; missing: not here. */
            startable: z.literal(true).optional(),
            /** JSON Schemas, where the library of the schema can say them. */
            input: json.optional(),
            output: json.optional(),
            signals: z.record(z.string(), z.object({ payload: json.optional() })).optional(),
            nodes: z.array(z.string()),
          }),
        ),
      }),
    ),
    next: z.string().optional(),
  }),
)

export const Agents = named(
  'Agents',
  z.object({
    agents: z.array(
      z.object({
        name: z.string(),
        actions: z.array(z.string()),
        pausedBy: SettingPause.optional(),
        nodes: z.array(
          z.object({
            id: z.string(),
            slots: whole.optional(),
            pools: z.object({ high: whole, rest: whole }).optional(),
          }),
        ),
        shared: whole.optional(),
        queue: z.object({
          depth: whole,
          truncated: z.literal(true).optional(),
          oldest: z.object({ task: z.string(), step: whole, since: instant.optional() }).optional(),
        }),
      }),
    ),
    next: z.string().optional(),
  }),
)

const capacity = z.object({ slots: whole, processes: whole })
const work = {
  waiting: whole,
  truncated: z.literal(true).optional(),
  since: instant.optional(),
  running: whole,
  has: capacity,
  wanted: capacity,
}

export const Demand = named(
  'Demand',
  z.object({
    agents: z.array(
      z.object({
        agent: z.string(),
        ...work,
        held: z.object({ by: z.enum(['breaker', 'rate', 'concurrency']), until: instant.optional() }).optional(),
      }),
    ),
    schedulers: z.array(z.object({ workflow: z.string(), version: z.string(), ...work })),
    truncated: z.literal(true).optional(),
  }),
)

export const Locks = named(
  'Locks',
  z.object({
    locks: z.array(
      z.object({
        name: z.string(),
        holder: z.string(),
        since: instant,
        fence: whole.optional(),
        waiting: whole,
        truncated: z.literal(true).optional(),
        next: z.array(z.object({ task: z.string(), since: instant })),
      }),
    ),
    next: z.string().optional(),
  }),
)

export const Leaders = named(
  'Leaders',
  z.object({
    leaders: z.array(z.object({ name: z.string(), node: z.string().optional(), token: whole })),
    next: z.string().optional(),
  }),
)

export const Nodes = named(
  'Nodes',
  z.object({
    nodes: z.array(
      z.object({
        id: z.string(),
        roles: z.array(z.string()),
        startedAt: instant,
        leaseUntil: instant,
        place: z.object({ host: z.string(), pid: whole }).optional(),
        runs: z.object({ workflows: z.array(z.string()), actions: z.array(z.string()) }).optional(),
        labels: z.record(z.string(), z.string()),
        settings: z.record(z.string(), whole),
      }),
    ),
  }),
)

export const Statistics = named('Statistics', Counts.extend({ stale: whole, fenced: whole }))
