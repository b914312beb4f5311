import { z } from 'zod'
import { said } from './control.ts'
import { instant, named, whole } from './schema.ts'

const seen = z.object({ answers: whole, ill: whole, slow: whole })
const state = z.enum(['closed', 'open', 'half-open', 'releasing'])

export const Breaker = named(
  'Breaker',
  z.object({
    name: z.string(),
    agent: z.string(),
    key: z.string().optional(),
    keyed: z.boolean(),
    state,
    since: instant,
    nextProbe: instant.optional(),
    idle: z.literal(true).optional(),
    waiting: whole,
    seen,
    rule: z.object({
      ...{ failureRate: z.number(), slowRate: z.number().nullable(), slowerThan: z.number().nullable() },
      ...{ window: z.number(), minimum: whole, open: z.number(), openMax: z.number(), probes: whole },
    }),
    streak: whole,
    wave: z.object({ number: whole, size: whole, given: whole, seen }).optional(),
    changes: z.array(z.object({ at: instant, from: state, to: state, actor: z.string(), reason: z.string() })),
  }),
)
export const BreakerPage = named('BreakerPage', z.object({ breakers: z.array(Breaker), next: z.string().optional() }))

const why = { ...said, reason: z.string().max(1_000) } as const
export const BreakerControl = named('BreakerControl', z.strictObject(why))
export const BreakerOpening = named('BreakerOpening', z.strictObject({ ...why, until: instant.optional() }))
