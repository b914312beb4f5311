import { KEYED } from '../store/breaker.ts'
import type { BreakerRow } from '../store/port.ts'
import { storedRate } from '../store/rate.ts'

/**
 * The current state of a rate limit.
 * @example const { limit, per, waiting, forced } = await triarch.rateLimits.get('payments').info()
 */
export interface RateLimitInfo {
  /** The name of its agent, or `agent.action`; with `#key` for the limit of one key. */
  name: string
  /** The name of its agent. */
  agent: string
  /** The action, as `agent.action`; undefined: the limit is for the whole agent. */
  action: string | undefined
  /** The key; undefined: the limit has no keys. */
  key: string | undefined
  /** Number of attempts that begin in each `per`, as given by the code or a setting. */
  limit: number
  /** The span of time (ms). */
  per: number
  /** How many more may begin at once after an idle time. */
  burst: number
  /** An operator's override; undefined: none. */
  forced: ForcedRate | undefined
  /** How many requests wait under it; counted up to 10,000. */
  waiting: number
  /** End of the cooldown that the service asked for; undefined: there is none. */
  rests: Date | undefined
  /** Changes by operators, oldest first: the last 20. */
  changes: RateLimitChange[]
}

/**
 * An operator's override of a rate limit.
 * @example
 * const { forced } = await triarch.rateLimits.get('payments').info()
 * const { lifted, until }: Partial<ForcedRate> = forced ?? {}
 */
export interface ForcedRate {
  /** There is no limit meanwhile; the other numbers are 0. */
  lifted: boolean
  /** Number of attempts that begin in each `per`. */
  limit: number
  /** The span of time (ms). */
  per: number
  /** How many more may begin at once after an idle time. */
  burst: number
  /** When the override ends; undefined: when an operator restores the limit. */
  until: Date | undefined
}

/**
 * One change of a rate limit by an operator.
 * @example const [first]: RateLimitChange[] = (await triarch.rateLimits.get('payments').info()).changes
 */
export interface RateLimitChange {
  /** When it was done. */
  at: Date
  /** What was done. */
  did: 'changed' | 'lifted' | 'restored'
  /** The `actor` that the operator gave. */
  actor: string
  /** The reason, for people. */
  reason: string
}

/** The view of a rate limit's row; null: it is empty or cannot be read. */
export function rateLimitInfo({ name, state: text, waiting }: BreakerRow, now: number): RateLimitInfo | null {
  const stored = storedRate(text)
  if (!stored) return null
  const { rule, state, hand, moves = [] } = stored
  const at = name.indexOf(KEYED)
  const of = at < 0 ? name : name.slice(0, at)
  const dot = of.indexOf('.')
  const forced = hand && (hand.until === null || hand.until > now) ? hand : null
  const { limit, per, burst } = forced?.rule ?? { limit: 0, per: 0, burst: 0 }
  return {
    ...{ name, agent: dot < 0 ? of : of.slice(0, dot), action: dot < 0 ? undefined : of },
    key: at < 0 ? undefined : name.slice(at + 1),
    ...{ limit: rule.limit, per: rule.per, burst: rule.burst },
    forced: forced
      ? {
          ...{ lifted: forced.rule === null, limit, per, burst },
          until: forced.until === null ? undefined : new Date(forced.until),
        }
      : undefined,
    waiting,
    rests: state.rests > now ? new Date(Math.ceil(state.rests)) : undefined,
    changes: moves.map(({ at: when, did, by, reason }) => ({ at: new Date(when), did, actor: by, reason })),
  }
}
