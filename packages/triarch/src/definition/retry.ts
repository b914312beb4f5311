import { TriarchError } from '../error/error.ts'
import type { RetryPlan } from '../kernel/step/policy.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * The waits between attempts. An option that is not given is inherited from the layer below.
 * @example const backoff: BackoffOptions = { initial: '1s', factor: 3, max: '5m', jitter: false }
 */
export interface BackoffOptions {
  /** Wait before the second attempt; 200 ms. */
  initial?: Duration
  /** Each wait is this many times the one before; at least 1; 2. */
  factor?: number
  /** Longest wait; 10 minutes, of a compensation 30. */
  max?: Duration
  /** Draw each wait at random from its upper half, so that tasks that failed together do not retry together; true. */
  jitter?: boolean
}

/**
 * How often a step is tried, and the waits between attempts. An option that is not given is inherited from the layer below.
 * @example const retry: RetryOptions = { attempts: 5, retryIf: (error) => !String(error).includes('404') }
 */
export interface RetryOptions {
  /** Attempts in all, the first included: 1 to 1,000,000; 40, of a compensation 60. */
  attempts?: number
  /** The waits between attempts, each with a default of its own. */
  backoff?: BackoffOptions
  /** Decides finally whether an error is retried, programming errors included; runs in the process that runs the action. */
  retryIf?: (error: unknown) => boolean
}

const MOST_ATTEMPTS = 1_000_000

/** The retry plan that results from applying the options to `base`. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toRetryPlan(options: RetryOptions | undefined, base: RetryPlan, what: string = 'retry'): RetryPlan {
  if (options === undefined) return base
  checkOptions(what, options, ['attempts', 'backoff', 'retryIf'])
  const { attempts = base.attempts, backoff = {}, retryIf } = options
  checkInteger(`${what}.attempts`, attempts, 1, MOST_ATTEMPTS)
  if (retryIf !== undefined) checkFunction(`${what}.retryIf`, retryIf)
  checkOptions(`${what}.backoff`, backoff, ['initial', 'factor', 'max', 'jitter'])
  return { attempts, ...toBackoff(backoff, base, `${what}.backoff`) }
}

function toBackoff(options: BackoffOptions, base: RetryPlan, what: string): Omit<RetryPlan, 'attempts'> {
  const { factor = base.factor, jitter = base.jitter } = options
  if (typeof factor !== 'number' || !(factor >= 1 && factor <= 1000)) {
    throw new TriarchError('INVALID_OPTION', `${what}.factor must be a number from 1 to 1000`)
  }
  if (typeof jitter !== 'boolean') throw new TriarchError('INVALID_OPTION', `${what}.jitter must be true or false`)
  const initial = options.initial === undefined ? base.initial : milliseconds(options.initial, `${what}.initial`)
  const max = options.max === undefined ? Math.max(base.max, initial) : milliseconds(options.max, `${what}.max`)
  if (options.initial !== undefined && max < initial) {
    throw new TriarchError('INVALID_OPTION', `${what}.max must not be shorter than ${what}.initial`)
  }
  // An initial wait of 0 would reach 0 × ∞ with a growing factor.
  return { initial: Math.min(initial, max), factor: initial === 0 ? 1 : factor, max, jitter }
}
