import { TriarchError } from '../error/error.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * How many attempts run at a time. At least one of `shared` and `each` is given.
 * @example
 * const concurrency: ConcurrencyOptions = { shared: 50, each: 20, adaptive: true }
 * const payments = agent('payments', { concurrency })
 */
export interface ConcurrencyOptions {
  /** Most attempts at a time on all nodes together: 1 to 100,000; any number. */
  shared?: number
  /** Most attempts at a time in one process: 1 to 100,000; as `shared`, and with `key` 100. */
  each?: number
  /**
   * Makes one limit for each key, such as an account or a tenant, instead of one for all. The key has 1 to 150 characters and is kept in
   * the store as it is. All keyed options of an agent and its actions must use the same function. An error in it fails the attempt. With
   * `shared` only.
   */
  key?(input: unknown): string
  /**
   * Each process runs fewer attempts while the service is slower than usual or ill, and more again when it is well: between `least` (1) and
   * what `each` allows. For agents only; false.
   */
  adaptive?: boolean | { least: number }
}

/** The checked meaning of a `concurrency` option. */
export interface Concurrency {
  /** Limit in one process; null: not given. */
  readonly each: number | null
  /** Limit over all nodes together; null: not given. */
  readonly shared: number | null
  /** The shared limit applies to each key. */
  readonly keyed: boolean
  /** The limit adapts to the service, down to this number; null: not given; false: it does not adapt. */
  readonly least: number | false | null
}

const MOST = 100_000

/** Checks a `concurrency` option. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function toConcurrency(what: string, given: number | ConcurrencyOptions | undefined): Concurrency {
  if (given === undefined) return { each: null, shared: null, keyed: false, least: null }
  if (typeof given !== 'object')
    return { each: checkInteger(what, given, 1, MOST), shared: null, keyed: false, least: null }
  checkOptions(what, given, ['shared', 'each', 'key', 'adaptive'])
  if (given.key !== undefined) checkFunction(`${what}.key`, given.key)
  const bound = (key: 'shared' | 'each') =>
    given[key] === undefined ? null : checkInteger(`${what}.${key}`, given[key], 1, MOST)
  const [shared, each] = [bound('shared'), bound('each')]
  if (shared === null && (each === null || given.key !== undefined))
    throw new TriarchError('INVALID_OPTION', `${what}: needs ${given.key ? 'shared' : 'shared or each'}`)
  const least = toLeast(`${what}.adaptive`, given.adaptive, Math.min(each ?? MOST, shared ?? MOST))
  return { each, shared, keyed: given.key !== undefined, least }
}

/** The same for an action, which cannot be adaptive because it has no slots of its own. */
export function toActionConcurrency(what: string, given: number | ConcurrencyOptions | undefined): Concurrency {
  const concurrency = toConcurrency(what, given)
  if (concurrency.least !== null)
    throw new TriarchError('INVALID_OPTION', `${what}.adaptive: only the concurrency of an agent adapts itself`)
  return concurrency
}

function toLeast(what: string, given: ConcurrencyOptions['adaptive'], most: number): number | false | null {
  if (given === undefined) return null
  if (given === false) return false
  if (given === true) return 1
  if (typeof given !== 'object' || given === null)
    throw new TriarchError('INVALID_OPTION', `${what} must be true, false or { least }`)
  checkOptions(what, given, ['least'])
  return checkInteger(`${what}.least`, given.least, 1, most)
}
