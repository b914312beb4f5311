import { KEYED } from '../store/breaker.ts'
import type { BreakerRow } from '../store/port.ts'
import { storedRate } from '../store/rate.ts'

/**
 * A rate limit as it stands.
 * @example const { limit, per, waiting, forced } = await triarch.rateLimit('payments').info()
 */
export interface RateLimitInfo {
  /** Its agent, or `agent.action`; with `#key` that of one key. */
  name: string
  /** The name of its agent. */
  agent: string
  /** Of which action, as `agent.action`; undefined: of the whole agent. */
  action: string | undefined
  /** Of which key; undefined: of all. */
  key: string | undefined
  /** So many attempts begin in each `per`, as the code or a setting says. */
  limit: number
  /** In ms. */
  per: number
  /** So many more may begin at once after a lull. */
  burst: number
  /** What counts instead, by an operator's word; undefined: nothing does. */
  forced: ForcedRate | undefined
  /** How many requests wait under it; nothing is counted beyond 10,000. */
  waiting: number
  /** The service asked for a rest until then; undefined: it did not. */
  rests: Date | undefined
  /** What operators did, oldest first: the last 20. */
  changes: RateLimitChange[]
}

/**
 * The numbers that an operator gave.
 * @example
 * const { forced } = await triarch.rateLimit('payments').info()
 * const { lifted, until }: Partial<ForcedRate> = forced ?? {}
 */
export interface ForcedRate {
  /** There is no limit meanwhile; the numbers are 0. */
  lifted: boolean
  /** So many attempts begin in each `per`. */
  limit: number
  /** In ms. */
  per: number
  /** So many more may begin at once after a lull. */
  burst: number
  /** Then the limit is its own again; undefined: once somebody restores it. */
  until: Date | undefined
}

/**
 * One word of an operator on a rate limit.
 * @example const [last]: RateLimitChange[] = (await triarch.rateLimit('payments').info()).changes.slice(-1)
 */
export interface RateLimitChange {
  /** When. */
  at: Date
  /** What was done. */
  did: 'changed' | 'lifted' | 'restored'
  /** Who: what the operator gave as `actor`. */
  actor: string
  /** Why, in words. */
  reason: string
}

/** Null: there is no row, or it cannot be read. */
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
