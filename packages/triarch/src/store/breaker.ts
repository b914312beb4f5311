import type { Audited } from './audit.ts'

/** What a row holds: a circuit breaker, a rate limit, or that the service behind a queue asked to be left alone (`rest`). */
export type BreakerKind = 'breaker' | 'rate' | 'rest'

/** Names a row. */
export interface BreakerRef {
  /** What it holds. */
  kind: BreakerKind
  /**
   * Of a breaker and of a rest `agent`, or `agent#key`: also the name of the work queue. Of a rate limit `agent` or `agent.action`, and each
   * of them with `#key`.
   */
  name: string
}

/** A circuit breaker, or a queue of parked steps that has none (yet), a rate limit, or a rest, as the store keeps it. */
export interface BreakerRow extends BreakerRef {
  /** Rises with each write; 0: there is no row. */
  version: number
  /** As JSON; null: there is no row. */
  state: string | null
  /** Requests that nobody has taken, counted up to the query's `count`: of a breaker in its queue; of a rate limit under it, where limits are asked for. */
  waiting: number
}

/**
 * Which: breakers of an agent, with the queues of its keys in which something waits; these; these rate limits, by their names; or all of a kind
 * that have a row. Ordered by kind and name, those above `after`.
 */
export type BreakerQuery = {
  /** So many waiting requests are counted for each. */
  count: number
} & (
  | { agent: string; after: string; limit: number }
  | { refs: readonly BreakerRef[] }
  | { limits: readonly string[] }
  | { kind: BreakerKind; after: string; limit: number }
)

/** A change of one breaker. */
export interface BreakerWrite extends Audited, BreakerRef {
  /** The version it was read at; 0: there was no row. */
  expected: number
  /** As JSON; null: the row goes. */
  state: string | null
}

/** These of one kind. */
export function refsOf(kind: BreakerKind, names: Iterable<string>): BreakerRef[] {
  return Array.from(names, (name) => ({ kind, name }))
}

/** Stands between the name of an agent, in which it cannot be, and a key. */
export const KEYED = '#'

/** The first text that is above all names of an agent's keys. */
export function endOfKeys(agent: string): string {
  return agent + String.fromCodePoint((KEYED.codePointAt(0) ?? 0) + 1)
}

/** Whose queue it is. */
export function agentOfQueue(queue: string): string {
  const at = queue.indexOf(KEYED)
  return at < 0 ? queue : queue.slice(0, at)
}
