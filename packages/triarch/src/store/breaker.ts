import type { Audited } from './audit.ts'

/** The kind of a row: a circuit breaker, a rate limit, or a cooldown that the service behind a queue asked for (`rest`). */
export type BreakerKind = 'breaker' | 'rate' | 'rest'

/** The key of a row. */
export interface BreakerRef {
  /** The kind of the row. */
  kind: BreakerKind
  /**
   * The name. For a circuit breaker or a cooldown it is `agent` or `agent#key`, which is also the name of the work
   * queue; for a rate limit `agent` or `agent.action`, and each of them with `#key`.
   */
  name: string
}

/** A circuit breaker, a queue of parked steps that has none (yet), a rate limit, or a cooldown, as stored. */
export interface BreakerRow extends BreakerRef {
  /** Rises with each write; 0: there is no row. */
  version: number
  /** The state, as JSON; null: there is no row. */
  state: string | null
  /**
   * Requests that no node has taken, counted up to the query's `count`: for a breaker in its queue; for a rate limit
   * under it, if the query is for limits.
   */
  waiting: number
}

/**
 * Selects the breakers of an agent, with the queues of its keys in which requests wait; rows by kind and name; rate
 * limits by name; or all rows of a kind. Ordered by kind and name, those above `after`.
 */
export type BreakerQuery = {
  /** Most waiting requests that are counted for each. */
  count: number
} & (
  | { agent: string; after: string; limit: number }
  | { refs: readonly BreakerRef[] }
  | { limits: readonly string[] }
  | { kind: BreakerKind; after: string; limit: number }
)

/** A write of one row. */
export interface BreakerWrite extends Audited, BreakerRef {
  /** The version at which it was read; 0: there was no row. */
  expected: number
  /** The new state, as JSON; null: deletes the row. */
  state: string | null
}

/** Returns references to rows of one kind. */
export function refsOf(kind: BreakerKind, names: Iterable<string>): BreakerRef[] {
  return Array.from(names, (name) => ({ kind, name }))
}

/** Separates the name of an agent, which cannot contain it, from a key. */
export const KEYED = '#'

/** Returns the first text that sorts after all names of an agent's keys. */
export function endOfKeys(agent: string): string {
  return agent + String.fromCodePoint((KEYED.codePointAt(0) ?? 0) + 1)
}

/** Returns the agent of a queue. */
export function agentOfQueue(queue: string): string {
  const at = queue.indexOf(KEYED)
  return at < 0 ? queue : queue.slice(0, at)
}
