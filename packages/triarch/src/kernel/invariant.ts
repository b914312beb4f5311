/** An invariant of a task does not hold, so nothing in its state can be relied on. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

/** Checks an invariant, in production as well. A task that violates one is quarantined before anything of the transition is written. */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new BrokenInvariant(what)
}
