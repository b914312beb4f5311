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
  /** Most of them in one process: 1 to 100,000; as `shared`, and with `key` 100. */
  each?: number
  /**
   * A bound for each of these instead of one for all: an account, a tenant. Its text has 1 to 150 characters and is kept in the store as it is.
   * All that an agent and its actions say by key has the same function. What it throws fails the attempt. With `shared` only.
   */
  key?(input: unknown): string
  /**
   * Each process runs fewer while the service is slower than usual or ill, and more again when it is well: between `least` (1) and what
   * `each` allows. Of an agent only; false.
   */
  adaptive?: boolean | { least: number }
}

/** What a `concurrency` says. */
export interface Concurrency {
  /** In one process; null: nothing is said. */
  readonly each: number | null
  /** On all nodes together; null: nothing is said. */
  readonly shared: number | null
  /** The latter for each key. */
  readonly keyed: boolean
  /** It follows the service, down to so many; null: nothing is said; false: it does not. */
  readonly least: number | false | null
}

const MOST = 100_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
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

/** The same of an action, which has no slots of its own that could adapt. */
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
