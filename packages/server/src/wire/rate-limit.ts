import { z } from 'zod'
import { said } from './control.ts'
import { duration, instant, named, whole } from './schema.ts'

const numbers = { limit: whole, per: z.number(), burst: whole } as const

export const RateLimit = named(
  'RateLimit',
  z.object({
    name: z.string(),
    agent: z.string(),
    action: z.string().optional(),
    key: z.string().optional(),
    ...numbers,
    forced: z.object({ lifted: z.boolean(), ...numbers, until: instant.optional() }).optional(),
    waiting: whole,
    rests: instant.optional(),
    changes: z.array(
      z.object({ at: instant, did: z.enum(['changed', 'lifted', 'restored']), actor: z.string(), reason: z.string() }),
    ),
  }),
)
export const RateLimitPage = named(
  'RateLimitPage',
  z.object({ rateLimits: z.array(RateLimit), next: z.string().optional() }),
)

const why = { ...said, reason: z.string().max(1_000) } as const
export const RateLimitControl = named('RateLimitControl', z.strictObject(why))
export const RateLimitLift = named('RateLimitLift', z.strictObject({ ...why, until: instant.optional() }))
export const RateLimitForce = named(
  'RateLimitForce',
  z.strictObject({
    ...why,
    limit: z.int().min(1).max(1_000_000),
    per: duration,
    burst: z.int().min(1).max(1_000_000).optional(),
    until: instant.optional(),
  }),
)
