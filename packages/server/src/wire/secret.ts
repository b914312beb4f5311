import { z } from 'zod'
import { duration, instant, named } from './schema.ts'

export const SecretRotation = named(
  'SecretRotation',
  z.strictObject({
    reason: z.string().max(1_000),
    actor: z.string().max(200).optional(),
    overlap: duration.optional(),
  }),
)
export const RotatedSecret = named('RotatedSecret', z.object({ overlapsUntil: instant }))
