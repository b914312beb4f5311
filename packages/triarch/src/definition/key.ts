import { TriarchError } from '../error/error.ts'
import { checkFunction } from '../value/options.ts'

/** What of the input something is counted by. */
export type Key = (input: unknown) => unknown

/** The options of an agent or of an action that may say a key. */
export interface Keyed {
  circuitBreaker?: { key?: Key } | undefined
  rateLimit?: { key?: Key } | undefined
  concurrency?: number | { key?: Key } | undefined
}

/**
 * The one by which steps wait apart; null: none is said. What waits by keys waits in a queue of its own for each, so there can be one only.
 * `over`: what its agent says. Throws INVALID_OPTION.
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

/** What of an agent says keys. */
export function keyedOf({ circuitBreaker, rateLimit, sharedKey }: AgentKeys): Keyed {
  return { circuitBreaker, rateLimit, ...(sharedKey && { concurrency: { key: sharedKey } }) }
}

interface AgentKeys extends Omit<Keyed, 'concurrency'> {
  readonly sharedKey?: Key
}
