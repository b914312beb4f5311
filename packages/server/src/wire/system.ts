import { z } from 'zod'
import { instant, json, named, whole } from './schema.ts'

export const Workflows = named(
  'Workflows',
  z.object({
    workflows: z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        kind: z.enum(['function', 'plan']),
        /** JSON Schemas, where the library of the schema can say them. */
        input: json.optional(),
        output: json.optional(),
        events: z.record(z.string(), z.object({ payload: json.optional() })).optional(),
        nodes: z.array(z.string()),
      }),
    ),
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
        host: z.string().optional(),
        pid: whole.optional(),
        workflows: z.array(z.string()).optional(),
        actions: z.array(z.string()).optional(),
      }),
    ),
  }),
)

export const Statistics = named(
  'Statistics',
  z.object({
    tasks: whole,
    ready: whole,
    work: whole,
    inbox: whole,
    truncated: z.array(z.enum(['tasks', 'ready', 'work', 'inbox'])).optional(),
    stale: whole,
    fenced: whole,
  }),
)
