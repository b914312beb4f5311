import { TriarchError } from '../error/error.ts'
import { gap, type RateRule, tolerance } from '../policy/rate.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * How many attempts of an agent, or of an action, may begin in a time, over all nodes together.
 * @example
 * const rateLimit: RateLimitOptions = { limit: 100, per: '1s', burst: 20 }
 * const payments = agent('payments', { rateLimit })
 */
export interface RateLimitOptions {
  /** So many begin in each span of `per`, as long as there are enough: 1 to 1,000,000. */
  limit: number
  /** 100 ms to a day. */
  per: Duration
  /**
   * So many more may begin at once after a lull: no span of `per` has more than `limit + burst`. 1 to `limit`; a tenth of `limit`, or
   * what comes in 100 ms, whichever is more. It may not be less than what comes in 100 ms: nodes need that time to agree.
   */
  burst?: number
  /**
   * A limit for each of these instead of one for all: an account, a tenant. Its text has 1 to 150 characters and is kept in the store as it is.
   * All that an agent and its actions say by key has the same function. What it throws fails the attempt.
   */
  key?(input: unknown): string
}

/** Nodes agree within this time (ms). */
const LEAST_TOLERANCE = 100
const DAY = 86_400_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toRateRule(what: string, options: RateLimitOptions): RateRule {
  checkOptions(what, options ?? null, ['limit', 'per', 'burst', 'key'])
  if (options.key !== undefined) checkFunction(`${what}.key`, options.key)
  const limit = checkInteger(`${what}.limit`, options.limit, 1, 1_000_000)
  const per = positiveMilliseconds(options.per, `${what}.per`)
  if (per < LEAST_TOLERANCE || per > DAY)
    throw new TriarchError('INVALID_OPTION', `${what}.per must be from 100 ms to a day`)
  const least = Math.ceil(LEAST_TOLERANCE / gap({ limit, per, burst: 1 }))
  const usual = Math.max(1, least, Math.ceil(limit / 10))
  const rule = { limit, per, burst: checkInteger(`${what}.burst`, options.burst ?? usual, 1, limit) }
  if (tolerance(rule) >= LEAST_TOLERANCE) return Object.freeze(rule)
  throw new TriarchError(
    'INVALID_OPTION',
    `${what}.burst must be at least ${least}: what comes in ${LEAST_TOLERANCE} ms`,
  )
}
