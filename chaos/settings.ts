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
