import { TriarchError } from '../error/error.ts'
import { gap, type RateRule, tolerance } from '../policy/rate.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * How many attempts of an agent, or of an action, may begin in a span of time, over all nodes together.
 * @example
 * const rateLimit: RateLimitOptions = { limit: 100, per: '1s', burst: 20 }
 * const payments = agent('payments', { rateLimit })
 */
export interface RateLimitOptions {
  /** Number of attempts that begin in each span of `per`, if enough are waiting: 1 to 1,000,000. */
  limit: number
  /** The span of time: 100 ms to a day. */
  per: Duration
  /**
   * How many more may begin at once after an idle time: no span of `per` has more than `limit + burst`. 1 to `limit`; a tenth of `limit`,
   * or the number for 100 ms, whichever is more. It cannot be less than the number for 100 ms, because nodes need that time to agree.
   */
  burst?: number
  /**
   * Makes one limit for each key, such as an account or a tenant, instead of one for all. The key has 1 to 150 characters and is kept in
   * the store as it is. All keyed options of an agent and its actions must use the same function. An error in it fails the attempt.
   */
  key?(input: unknown): string
}

/** Time within which nodes agree on reservations (ms). */
const LEAST_TOLERANCE = 100
const DAY = 86_400_000

/** Checks the options. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
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
