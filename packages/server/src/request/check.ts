import type { z } from 'zod'
import { type Fault, Refused } from '../problem/problem.ts'

/** Faults that a client is told of. */
const MOST_FAULTS = 20

/** The value, when the schema takes it. Throws INVALID_REQUEST. */
export function check<S extends z.ZodType>(schema: S, value: unknown, where: 'body' | 'query'): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) {
    checkMembers(value, result.data, where)
    return result.data
  }
  const errors = result.error.issues.slice(0, MOST_FAULTS).map(
    (issue): Fault => ({
      path: [where, ...issue.path.map(String)].join('.').slice(0, 200),
      message: issue.message.slice(0, 300),
    }),
  )
  const shown = errors.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
  throw new Refused('INVALID_REQUEST', shown.join('; '), errors)
}

/** Schemas of records leave a member "__proto__" out without a word. What they take as it is, such as a payload, may have one. */
function checkMembers(given: unknown, taken: unknown, where: string): void {
  const open: { given: unknown; taken: unknown; path: string }[] = [{ given, taken, path: where }]
  for (let it = open.pop(); it !== undefined; it = open.pop()) {
    const { given, taken, path } = it
    if (given === taken || !isObject(given) || !isObject(taken)) continue
    if (Object.hasOwn(given, '__proto__') && !Object.hasOwn(taken, '__proto__')) {
      const fault = { path: `${path}.__proto__`.slice(0, 200), message: 'not allowed' }
      throw new Refused('INVALID_REQUEST', `${path}: no name is "__proto__"`, [fault])
    }
    for (const key of Object.keys(taken)) open.push({ given: given[key], taken: taken[key], path: `${path}.${key}` })
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
