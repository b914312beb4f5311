import type { Audited } from './audit.ts'
/** A circuit breaker, or a queue of parked steps that has none (yet), as the store keeps it. */
export interface BreakerRow {
  /** `agent`, or `agent#key`: also the name of the work queue in which its steps wait. */
  name: string
  /** Rises with each write; 0: there is no row. */
  version: number
  /** As JSON; null: there is no row. */
  state: string | null
  /** Requests in its queue (of a rate limit: under it) that nobody has taken, counted up to the query's `count`. */
  waiting: number
}

/**
 * Which: those of an agent, with the queues of its keys in which something waits; these; these rate limits, by the names of their rows; or
 * all that have a row. Ordered by name, those above `after`.
 */
export type BreakerQuery = {
  /** So many waiting requests are counted for each. */
  count: number
} & (
  | { agent: string; after: string; limit: number }
  | { names: readonly string[] }
  | { limits: readonly string[] }
  | { after: string; limit: number }
)

/** A change of one breaker. */
export interface BreakerWrite extends Audited {
  /** Which. */
  name: string
  /** The version it was read at; 0: there was no row. */
  expected: number
  /** As JSON; null: the row goes. */
  state: string | null
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
