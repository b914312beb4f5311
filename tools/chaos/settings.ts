// The clocks of the nodes under test, shared by the processes and by the rules that measure them. Short, so that a run need
// not wait long for the dead to be noticed. All in milliseconds.

export const settings = {
  /** A node that says nothing for this long is taken for dead. It outlasts every request, as its dead owner's must be over. */
  lease: 1_500,
  sweep: 250,
  poll: 25,
  grace: 1_000,
} as const

/** A dead scheduler's tasks are claimed by another one within the lease and one sweep; the rest is for a busy machine. */
export const TAKEOVER_LIMIT: number = settings.lease + settings.sweep + 1_250

/** A dead leader has a successor when its term is over: a lease after it was renewed, and the deputy looks then. */
export const LEADER_LIMIT: number = settings.lease + settings.sweep + 1_000

/**
 * How long simple tasks may take that have nothing to do with any fault (ms). Half of them meet none. A long one was owned by a
 * process that died or stood still, and its next owner by the next one, or the database was away.
 */
export const BYSTANDERS = { fewest: 20, usual: 500, longest: 4 * TAKEOVER_LIMIT } as const

/**
 * A stop waits for the grace of its steps, twice, and five times for a store that answers nobody: until it opens, takes the
 * tasks, what was done beside them and the leave, and closes (ms).
 */
export const STOP_LIMIT: number = 2 * settings.grace + 5 * 5_000 + 3_000
