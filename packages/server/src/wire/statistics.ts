import { z } from 'zod'
import { instant, named, whole } from './schema.ts'

const column = z.enum(['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'])
/** `none`, alone: one row of all. */
const by = z.array(z.union([column, z.literal('none')])).max(8)
const kind = z.enum(['task', 'step', 'attempt'])
const name = z.string().max(300).optional()

export const figuresQuery = z.strictObject({
  by: by.optional(),
  kind: kind.optional(),
  workflow: name,
  agent: name,
  action: name,
  outcome: name,
  error: name,
  tag: name,
  from: instant.optional(),
  to: instant.optional(),
})

const known = z.number().min(0).nullable()

export const Figures = named(
  'Figures',
  z.object({
    rows: z.array(
      z.object({
        hour: instant.optional(),
        kind: kind.optional(),
        workflow: z.string().optional(),
        agent: z.string().optional(),
        action: z.string().optional(),
        outcome: z.string().optional(),
        error: z.string().optional(),
        tag: z.string().optional(),
        count: whole,
        timed: whole,
        /** ms */
        mean: known,
        p50: known,
        p95: known,
        p99: known,
      }),
    ),
    truncated: z.boolean(),
    asOf: instant.nullable(),
    /** ms */
    behind: known,
    /** All is being counted anew: how much of it is done, from 0 to 1. */
    recount: z.object({ since: instant, share: z.number().min(0).max(1) }).optional(),
  }),
)

export const RecountOrder = named(
  'RecountOrder',
  z.strictObject({ reason: z.string().max(1_000).optional(), actor: z.string().max(200).optional() }),
)
