import { z } from 'zod'
import { instant, json, named, whole } from './schema.ts'

export const level = z.enum(['debug', 'info', 'warn', 'error'])

export const logQuery = z.strictObject({
  step: whole.optional(),
  attempt: z.int().min(1).optional(),
  level: level.optional(),
  after: whole.optional(),
  limit: z.int().min(1).max(1_000).optional(),
})

export const LogLine = named(
  'LogLine',
  z.object({
    seq: whole,
    at: instant,
    level,
    message: z.string(),
    fields: z.record(z.string(), json),
    step: whole.optional(),
    operation: z.enum(['run', 'undo', 'verify']).optional(),
    attempt: whole.optional(),
    node: z.string().optional(),
    dropped: whole,
  }),
)

export const LogPage = named(
  'LogPage',
  z.object({ lines: z.array(LogLine), next: whole.optional(), last: whole, shed: whole }),
)
