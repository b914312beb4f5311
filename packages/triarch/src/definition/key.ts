import { TriarchError } from '../error/error.ts'
import { checkFunction } from '../value/options.ts'

/** Computes a key from an input. */
export type Key = (input: unknown) => unknown

/** Options of an agent or an action that may have a key. */
export interface Keyed {
  circuitBreaker?: { key?: Key } | undefined
  rateLimit?: { key?: Key } | undefined
  concurrency?: number | { key?: Key } | undefined
}

/**
 * The key function by which steps wait separately; null: none is given. Requests with keys wait in one queue per key, so there can be only
 * one such function. `over`: the options of the agent. Throws INVALID_OPTION.
 */
export function keyOf(what: string, { circuitBreaker, rateLimit, concurrency }: Keyed, over: Keyed = {}): Key | null {
  const given = [circuitBreaker, rateLimit, typeof concurrency === 'object' ? concurrency : undefined]
  const keys = given.flatMap((it) => it?.key ?? [])
  for (const key of keys) checkFunction(`${what}: key`, key)
  const [key = null] = keys
  const of = Object.keys(over).length > 0 ? keyOf(what, over) : null
  if (key === null) return of
  if (keys.some((it) => it !== key) || (of !== null && of !== key))
    throw new TriarchError(
      'INVALID_OPTION',
      `${what}: circuitBreaker, rateLimit and concurrency that have keys, and those of its agent, must have the same function`,
    )
  const breaker = circuitBreaker ?? over.circuitBreaker
  if (breaker && breaker.key === undefined)
    throw new TriarchError('INVALID_OPTION', `${what}: a circuitBreaker beside what has a key needs that key, too`)
  return key
}

/** The options of an agent that may have keys. */
export function keyedOf({ circuitBreaker, rateLimit, sharedKey }: AgentKeys): Keyed {
  return { circuitBreaker, rateLimit, ...(sharedKey && { concurrency: { key: sharedKey } }) }
}

interface AgentKeys extends Omit<Keyed, 'concurrency'> {
  readonly sharedKey?: Key
}
