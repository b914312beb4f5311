import type { z } from 'zod'
import { type Fault, Refused } from '../problem/problem.ts'

/** Faults that a client is told of. */
const MOST_FAULTS = 20

/** The value, when the schema takes it. Throws INVALID_REQUEST. */
export function check<S extends z.ZodType>(schema: S, value: unknown, where: 'body' | 'query'): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.slice(0, MOST_FAULTS).map(
    (issue): Fault => ({
      path: [where, ...issue.path.map(String)].join('.').slice(0, 200),
      message: issue.message.slice(0, 300),
    }),
  )
  const shown = errors.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
  throw new Refused('INVALID_REQUEST', shown.join('; '), errors)
}
