import { type Expression, expressionOf } from '../definition/reference.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { REFERENCE, type Template } from '../kernel/plan/reference.ts'
import type { SecretPaths } from '../kernel/secret.ts'
import { DEEPEST, encode } from '../value/payload.ts'

/** Objects of a plan that are not values; using one where a value belongs is an error. */
export const handles: WeakSet<object> = new WeakSet()

/** The context of reading a value, and the set that collects the references found. */
export interface TemplateContext {
  what: string
  plan: object
  limit: number
  found: Set<number>
  secrets?: SecretPaths | undefined
}

/**
 * The value as JSON with its references. `found` gets the steps it refers to. Throws PLAN_MISUSE for references of another plan,
 * UNSERIALISABLE, PAYLOAD_TOO_LARGE.
 */
export function toTemplate(value: unknown, { what, plan, limit, found, secrets }: TemplateContext): Template {
  const above: object[] = []

  function lift(part: unknown): unknown {
    if (typeof part !== 'object' || part === null) return part
    const expression = expressionOf(part)
    if (expression) {
      enter(part)
      const lifted = { [REFERENCE]: express(expression) }
      above.pop()
      return lifted
    }
    if (handles.has(part)) throw templateMisuse(`${what} holds a planned step: give its output`)
    if (above.includes(part)) return part
    enter(part)
    const lifted = Array.isArray(part) ? part.map(lift) : isPlain(part) ? liftObject(part) : part
    above.pop()
    return lifted
  }

  function enter(part: object): void {
    if (above.length >= DEEPEST)
      throw new TriarchError('UNSERIALISABLE', `${what} is nested deeper than ${DEEPEST} levels`)
    above.push(part)
  }

  function liftObject(part: object): unknown {
    const entries = Object.entries(part).map(([key, item]) => [key, lift(item)] as const)
    if (entries.every(([key]) => key !== REFERENCE)) return Object.fromEntries(entries)
    return { [REFERENCE]: ['object', ...entries.filter(([, item]) => item !== undefined)] }
  }

  function express({ operation, of, path, plan: origin }: Expression): unknown[] {
    if (operation === 'output') {
      if (origin !== plan) throw templateMisuse(`${what} refers to a step of another plan`)
      found.add(of[0] as number)
      return ['output', of[0], ...path]
    }
    const plain = operation === 'pluck' ? [operation, lift(of[0]), of[1]] : [operation, ...of.map(lift)]
    return path.length === 0 ? plain : ['at', { [REFERENCE]: plain }, ...path]
  }

  return encode(lift(value), what, limit, secrets) as Json
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    (prototype === Object.prototype || prototype === null) &&
    typeof (value as { toJSON?: unknown }).toJSON !== 'function'
  )
}

export function templateMisuse(message: string): TriarchError {
  return new TriarchError('PLAN_MISUSE', message)
}
