import { z } from 'zod'
import { duration, instant, json, named, texts, whole } from './schema.ts'

const origin = z.enum(['default', 'environment', 'store', 'file'])
const agent = z.string().max(200)
const guard = z.discriminatedUnion('metric', [
  z.strictObject({ metric: z.literal('failure-rate'), agent, above: z.number(), minimum: z.int() }),
  z.strictObject({ metric: z.literal('queue-age'), agent, above: z.number() }),
])
const version = { version: whole, value: json, at: instant, actor: z.string(), reason: z.string() } as const

export const Setting = named(
  'Setting',
  z.object({
    name: z.string(),
    revision: whole,
    live: z.object(version).optional(),
    trial: z
      .object({
        ...version,
        ...{ stage: whole, stages: whole, since: instant, until: instant.optional(), guards: z.array(guard) },
      })
      .optional(),
    here: z
      .object({
        ...{ value: json, version: whole, origin, origins: z.record(z.string(), origin) },
        layers: z.array(z.object({ origin, value: json })),
      })
      .optional(),
    nodes: z.array(z.object({ id: z.string(), version: whole, expected: whole })),
    drift: z.boolean(),
  }),
)
export const SettingPage = named('SettingPage', z.object({ settings: z.array(Setting), next: z.string().optional() }))
export const SettingHistory = named(
  'SettingHistory',
  z.object({
    changes: z.array(
      z.object({
        revision: whole,
        move: z.enum(['set', 'staged', 'advanced', 'completed', 'placed', 'withdrawn', 'rolled-back', 'cleared']),
        version: whole.optional(),
        value: json.optional(),
        at: instant,
        actor: z.string(),
        reason: z.string(),
      }),
    ),
    next: whole.optional(),
  }),
)

/** `actor` counts only where the server knows nobody by `authenticate`. */
const said = {
  reason: z.string().min(1).max(1_000),
  actor: z.string().max(200).optional(),
  expected: whole.optional(),
} as const
const stage = z.strictObject({ share: z.number().optional(), labels: texts.optional(), lasts: duration.optional() })
const staged = { stages: z.array(stage).max(10).optional(), guards: z.array(guard).max(10).optional() } as const

export const SettingValue = named('SettingValue', z.strictObject({ value: json, ...said, ...staged }))
export const SettingPart = named(
  'SettingPart',
  z.strictObject({ part: z.record(z.string(), json), ...said, ...staged }),
)
export const SettingAdvance = named('SettingAdvance', z.strictObject({ ...said, all: z.boolean().optional() }))
export const SettingRollback = named('SettingRollback', z.strictObject({ ...said, to: z.int().min(1).optional() }))
export const SettingWord = named('SettingWord', z.strictObject(said))
