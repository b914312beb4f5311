import { TriarchError } from '../error/error.ts'
import type { BreakerRule } from '../policy/breaker.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'

/**
 * When an agent's service is left alone, and how it is tried again: one circuit breaker over all nodes.
 * @example
 * const circuitBreaker: CircuitBreakerOptions = { window: '30s', minimum: 20, open: '10s', probes: 3 }
 * const payments = agent('payments', { circuitBreaker })
 */
export interface CircuitBreakerOptions {
  /**
   * A breaker for each of these instead of one for the agent: what fails by itself, such as a region or a bank. Its text has 1 to 150
   * characters and is kept in the store as it is. It runs with the attempt, and what it throws fails that.
   */
  key?(input: unknown): string
  /** Share of the answers in the window that are ill at which it opens: above 0, to 1; 0.5. */
  failureRate?: number
  /** The same of slow answers: above 0, to 1; 0.5 where `slowerThan` is given. */
  slowRate?: number
  /** From here on an answer is slow; none is when not given. */
  slowerThan?: Duration
  /** So far back answers count; 30 s. */
  window?: Duration
  /** Fewer answers in the window say nothing: 1 to 1,000,000; 20. */
  minimum?: number
  /** Longest time it stays open at first, twice as long each time after that; 10 s. */
  open?: Duration
  /** Longest time it ever stays open by itself; 5 minutes, or `open` if that is longer. */
  openMax?: Duration
  /** Attempts that try the service when that time is over, of all nodes together: 1 to 1,000; 3. */
  probes?: number
  /**
   * What becomes of a step meanwhile: it waits (`park`), or it fails at once with CIRCUIT_OPEN (`fail`); park. An action may say another
   * thing of its own steps, such as a fallback.
   */
  whenOpen?: 'park' | 'fail'
}

/** What an agent's options mean. */
export interface AgentBreaker {
  readonly rule: BreakerRule
  readonly key: ((input: unknown) => unknown) | null
  readonly whenOpen: 'park' | 'fail'
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
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
