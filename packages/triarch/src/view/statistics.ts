/**
 * How much is in the store, and what the process that was asked counted since it started. Nothing in the store is counted beyond 10,000.
 * @example const { ready, work, stale } = await triarch.statistics()
 */
export interface Statistics {
  /** Tasks, whatever their state. */
  tasks: number
  /** Tasks that wait for a scheduler. */
  ready: number
  /** Requests in work queues. */
  work: number
  /** Messages that no task has taken yet. */
  inbox: number
  /** Counts that are lower bounds: there is as much, or more. Absent where all are exact. */
  truncated?: readonly ('tasks' | 'ready' | 'work' | 'inbox')[]
  /** Replies and heartbeats that came too late, twice, or for an old attempt, and messages that no longer fit. */
  stale: number
  /** Times this node was taken for dead. */
  fenced: number
}
