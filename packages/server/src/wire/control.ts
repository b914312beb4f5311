import { z } from 'zod'
import { instant, json, named } from './schema.ts'

const step = z.int().min(1)
const reason = z.string().max(10_000).optional()

export const Cancel = named(
  'Cancel',
  z.strictObject({ compensate: z.boolean().optional(), force: z.boolean().optional(), reason }),
)
export const Pause = named('Pause', z.strictObject({ reason }))
export const Resume = named('Resume', z.strictObject({ after: step.optional() }))
export const Retry = named('Retry', z.strictObject({ step: step.optional(), input: json.optional() }))
export const Skip = named('Skip', z.strictObject({ step, output: json.optional() }))
export const Compensate = named('Compensate', z.strictObject({}))
export const Thaw = named('Thaw', z.strictObject({ startAt: instant.optional() }))
export const Signal = named('Signal', z.strictObject({ name: z.string(), payload: json.optional() }))
export const Token = named(
  'Token',
  z.strictObject({ value: json.optional(), name: z.string().optional(), optional: z.boolean().optional() }),
)
