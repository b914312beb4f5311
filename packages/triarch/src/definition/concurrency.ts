import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * How many attempts run at a time, over all nodes together.
 * @example
 * const concurrency: SharedConcurrency = { shared: 50, each: 20 }
 * const payments = agent('payments', { concurrency })
 */
export interface SharedConcurrency {
  /** Most attempts at a time on all nodes together: 1 to 100,000. */
  shared: number
  /** Most of them in one process: 1 to 100,000; as `shared`, and with `key` 100. */
  each?: number
  /**
   * A bound for each of these instead of one for all: an account, a tenant. Its text has 1 to 150 characters and is kept in the store as it is.
   * All that an agent and its actions say by key has the same function. What it throws fails the attempt.
   */
  key?(input: unknown): string
}

/** What a `concurrency` says. */
export interface Concurrency {
  /** In one process; null: nothing is said. */
  readonly each: number | null
  /** On all nodes together; null: nothing is said. */
  readonly shared: number | null
  /** The latter for each key. */
  readonly keyed: boolean
}

const MOST = 100_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function toConcurrency(what: string, given: number | SharedConcurrency | undefined): Concurrency {
  if (given === undefined) return { each: null, shared: null, keyed: false }
  if (typeof given !== 'object') return { each: checkInteger(what, given, 1, MOST), shared: null, keyed: false }
  checkOptions(what, given, ['shared', 'each', 'key'])
  if (given.key !== undefined) checkFunction(`${what}.key`, given.key)
  const shared = checkInteger(`${what}.shared`, given.shared, 1, MOST)
  return {
    each: given.each === undefined ? null : checkInteger(`${what}.each`, given.each, 1, MOST),
    shared,
    keyed: given.key !== undefined,
  }
}
