/**
 * Counts of rows in the store, up to 10,000 each, and counts of the answering process since it started.
 * @example const { ready, work, stale } = await triarch.statistics.get()
 */
export interface Statistics {
  /** Tasks in any state. */
  tasks: number
  /** Tasks that wait for a scheduler. */
  ready: number
  /** Requests in work queues. */
  work: number
  /** Messages that their tasks have not consumed yet. */
  inbox: number
  /** Counts that are lower bounds. Absent if all are exact. */
  truncated?: readonly ('tasks' | 'ready' | 'work' | 'inbox')[]
  /** Replies and heartbeats that came too late, twice, or for an old attempt, and messages that no longer fit. */
  stale: number
  /** How often this node was declared dead. */
  fenced: number
}
