import { z } from 'zod'

// What the parts of the wire are made of. What comes is checked by these, what goes is described by them.

/** The schemas that have a name in the document. */
export const components = z.registry<{ id: string }>()

export function named<S extends z.ZodType>(id: string, schema: S): S {
  components.add(schema, { id })
  return schema
}

/** What a response has of a schema, before it is JSON: an instant may be a Date, and what is open may have more. */
export type Sent<T> = unknown extends T
  ? T
  : T extends string
    ? T | Date
    : T extends readonly (infer U)[]
      ? readonly Sent<U>[]
      : T extends object
        ? { [K in keyof T as string extends K ? (unknown extends T[K] ? never : K) : K]: Sent<T[K]> }
        : T

/** Anything that JSON can say. */
export const json = z.unknown()
export const instant = named(
  'Instant',
  z.iso.datetime({ offset: true, message: 'an instant such as "2026-12-24T18:00:00Z"' }),
)
export const duration = z
  .string()
  .max(50)
  .regex(/^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/, 'a duration such as "30s"')
export const texts = z.record(z.string(), z.string())
export const whole = z.int().min(0)

/** That an operator has paused something by a setting, or closed it. */
export const SettingPause = named(
  'SettingPause',
  z.object({ setting: z.string(), name: z.string(), reason: z.string(), actor: z.string(), since: instant }),
)

/** For what something of a task waits in a line, or what keeps it there. */
export const TaskWait = named(
  'TaskWait',
  z.object({
    code: z.enum([
      'frozen',
      ...(['queued', 'no-scheduler', 'workflow-paused'] as const),
      ...(['step-queued', 'no-agent', 'agent-paused', 'breaker', 'rate-limit', 'concurrency'] as const),
    ]),
    of: z.string(),
    until: instant.optional(),
    text: z.string(),
  }),
)

/** An answer of before, from a cache. */
export const Cached = named(
  'Cached',
  z.object({ at: instant, from: z.enum(['memory', 'shared']), stale: z.literal(true).optional() }),
)

/** As the history has it: what caused it is nested. */
export const ErrorRecord = named(
  'Error',
  z.object({
    name: z.string(),
    message: z.string(),
    code: z.string().optional(),
    stack: z.string().optional(),
    cause: json.optional(),
    details: json.optional(),
  }),
)

export const problemSchema = named(
  'Problem',
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    details: json.optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
)
