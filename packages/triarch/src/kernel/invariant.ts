/** What must hold does not: nothing that is believed of this task can be relied on. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

/** States what must hold, in production as well. Whose task it does not hold for is set apart, before anything of it is written. */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new BrokenInvariant(what)
}
