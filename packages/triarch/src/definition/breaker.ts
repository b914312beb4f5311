import { TriarchError } from '../error/error.ts'
import type { BreakerRule } from '../policy/breaker.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * When an agent's service is considered ill, and how it is tried again: one circuit breaker for all nodes.
 * @example
 * const circuitBreaker: CircuitBreakerOptions = { window: '30s', minimum: 20, open: '10s', probes: 3 }
 * const payments = agent('payments', { circuitBreaker })
 */
export interface CircuitBreakerOptions {
  /**
   * Makes one breaker for each key instead of one for the agent, for parts that fail separately, such as a region or a bank. The key has 1
   * to 150 characters and is kept in the store as it is. The function runs with the attempt; an error in it fails the attempt.
   */
  key?(input: unknown): string
  /** The breaker opens at this share of failed answers in the window: above 0, to 1; 0.5. */
  failureRate?: number
  /** The breaker opens at this share of slow answers in the window: above 0, to 1; 0.5 where `slowerThan` is given. */
  slowRate?: number
  /** An answer that takes this long or longer is slow; none is when not given. */
  slowerThan?: Duration
  /** How far back answers count; 30 s. */
  window?: Duration
  /** With fewer answers in the window the breaker does not open: 1 to 1,000,000; 20. */
  minimum?: number
  /** Longest time it stays open at first, twice as long each time after that; 10 s. */
  open?: Duration
  /** Longest time it ever stays open by itself; 5 minutes, or `open` if that is longer. */
  openMax?: Duration
  /** Attempts that test the service when that time is over, on all nodes together: 1 to 1,000; 3. */
  probes?: number
  /**
   * What happens to a step while the breaker is open: it waits (`park`), or it fails at once with CIRCUIT_OPEN (`fail`); park. An action
   * may choose differently for its own steps, such as a fallback.
   */
  whenOpen?: 'park' | 'fail'
}

/** The checked options. */
export interface AgentBreaker {
  readonly rule: BreakerRule
  readonly key: ((input: unknown) => unknown) | null
  readonly whenOpen: 'park' | 'fail'
}

/** Checks the options of a circuit breaker. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toAgentBreaker(what: string, options: CircuitBreakerOptions): AgentBreaker {
  checkOptions(what, options ?? null, [
    ...(['key', 'failureRate', 'slowRate', 'slowerThan', 'window', 'minimum'] as const),
    ...(['open', 'openMax', 'probes', 'whenOpen'] as const),
  ])
  const { key, failureRate = 0.5, slowRate, slowerThan, minimum = 20, probes = 3, whenOpen = 'park' } = options
  if (key !== undefined) checkFunction(`${what}.key`, key)
  if (slowRate !== undefined && slowerThan === undefined)
    throw new TriarchError('INVALID_OPTION', `${what}: slowRate needs slowerThan`)
  if (whenOpen !== 'park' && whenOpen !== 'fail')
    throw new TriarchError(
      'INVALID_OPTION',
      `${what}.whenOpen must be "park" or "fail": a fallback is said by an action`,
    )
  const span = (value: Duration, name: string) => positiveMilliseconds(value, `${what}.${name}`)
  const open = span(options.open ?? '10s', 'open')
  const openMax = options.openMax === undefined ? Math.max(open, 300_000) : span(options.openMax, 'openMax')
  if (openMax < open) throw new TriarchError('INVALID_OPTION', `${what}.openMax must not be shorter than ${what}.open`)
  const rule: BreakerRule = {
    failureRate: checkShare(`${what}.failureRate`, failureRate),
    slowRate: slowerThan === undefined ? null : checkShare(`${what}.slowRate`, slowRate ?? 0.5),
    slowerThan: slowerThan === undefined ? null : span(slowerThan, 'slowerThan'),
    window: span(options.window ?? '30s', 'window'),
    minimum: checkInteger(`${what}.minimum`, minimum, 1, 1_000_000),
    open,
    openMax,
    probes: checkInteger(`${what}.probes`, probes, 1, 1_000),
  }
  return Object.freeze({ rule: Object.freeze(rule), key: key ?? null, whenOpen })
}

function checkShare(what: string, share: unknown): number {
  if (typeof share === 'number' && share > 0 && share <= 1) return share
  throw new TriarchError('INVALID_OPTION', `${what} must be a number above 0, to 1`)
}
