import { z } from 'zod'
import { instant, json, named } from './schema.ts'

const step = z.int().min(1)
/** What every control takes. `actor` counts only where the server knows nobody by `authenticate`. */
export const said = {
  reason: z.string().max(10_000).optional(),
  actor: z.string().max(200).optional(),
} as const

export const Cancel = named(
  'Cancel',
  z.strictObject({ compensate: z.boolean().optional(), force: z.boolean().optional(), ...said }),
)
export const Pause = named('Pause', z.strictObject(said))
export const Resume = named('Resume', z.strictObject({ after: step.optional(), ...said }))
export const Retry = named('Retry', z.strictObject({ step: step.optional(), input: json.optional(), ...said }))
export const Skip = named('Skip', z.strictObject({ step, output: json.optional(), ...said }))
export const Compensate = named('Compensate', z.strictObject(said))
export const Thaw = named('Thaw', z.strictObject({ startAt: instant.optional(), ...said }))
export const Signal = named('Signal', z.strictObject({ name: z.string(), payload: json.optional(), ...said }))
const resuming = { value: json.optional(), name: z.string().optional(), optional: z.boolean().optional() }
export const Token = named('Token', z.strictObject(resuming))
export const TokenUse = named('TokenUse', z.strictObject({ token: z.string().optional(), ...resuming }))
