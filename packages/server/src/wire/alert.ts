import { z } from 'zod'
import { instant, named } from './schema.ts'

const word = { actor: z.string(), reason: z.string(), at: instant } as const

export const Alert = named(
  'Alert',
  z.object({
    name: z.string(),
    id: z.string(),
    rule: z.string(),
    subject: z.string(),
    phase: z.enum(['pending', 'firing', 'ended']),
    severity: z.enum(['warning', 'critical']),
    message: z.string(),
    since: instant,
    firedAt: instant.optional(),
    endedAt: instant.optional(),
    endedBy: z.object(word).optional(),
    owner: z.object(word).optional(),
    silence: z.object({ ...word, until: instant }).optional(),
    toldAt: instant.optional(),
  }),
)
export const AlertPage = named('AlertPage', z.object({ alerts: z.array(Alert), next: z.string().optional() }))

export const alertsQuery = z.strictObject({
  ended: z.boolean().optional(),
  cursor: z.string().max(500).optional(),
  limit: z.int().min(1).max(1_000).optional(),
})

const why = { reason: z.string().max(1_000), actor: z.string().max(200).optional() } as const
export const AlertControl = named('AlertControl', z.strictObject(why))
export const AlertTest = named(
  'AlertTest',
  z.strictObject({
    sink: z.string().max(100).optional(),
    reason: z.string().max(1_000).optional(),
    actor: z.string().max(200).optional(),
  }),
)
export const AlertTrials = named(
  'AlertTrials',
  z.object({
    sinks: z.array(z.object({ sink: z.string(), ok: z.boolean(), ms: z.number(), problem: z.string().optional() })),
  }),
)
export const AlertSilence = named('AlertSilence', z.strictObject({ ...why, until: instant }))
