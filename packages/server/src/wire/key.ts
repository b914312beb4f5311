import { rights } from 'triarch'
import { z } from 'zod'
import { duration, instant, named } from './schema.ts'

const word = z.object({ actor: z.string(), reason: z.string(), at: instant })
const Right = z.enum(rights)

export const Key = named(
  'Key',
  z.object({
    name: z.string(),
    id: z.string(),
    status: z.enum(['active', 'expired', 'revoked']),
    rights: z.array(Right),
    note: z.string().optional(),
    made: word,
    expiresAt: instant.optional(),
    usedAt: instant.optional(),
    rotated: word.optional(),
    overlapsUntil: instant.optional(),
    revoked: word.optional(),
  }),
)
export const IssuedKey = named('IssuedKey', z.object({ secret: z.string(), key: Key }))
export const KeyPage = named('KeyPage', z.object({ keys: z.array(Key), next: z.string().optional() }))

export const keysQuery = z.strictObject({
  cursor: z.string().max(200).optional(),
  limit: z.int().min(1).max(1_000).optional(),
})

const text = z.string().max(1_000)
const actor = z.string().max(200).optional()
export const KeyCreation = named(
  'KeyCreation',
  z.strictObject({
    rights: z.array(Right).min(1),
    expiresIn: duration.optional(),
    note: text.optional(),
    reason: text.optional(),
    actor,
  }),
)
export const KeyRotation = named('KeyRotation', z.strictObject({ reason: text, actor, overlap: duration.optional() }))
export const KeyControl = named('KeyControl', z.strictObject({ reason: text, actor }))
