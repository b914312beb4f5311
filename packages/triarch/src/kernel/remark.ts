/** What whoever asked for it said of it, as the history keeps it. */
export interface Remark {
  /** Why, in their words: where an event has a `reason`, that is the engine's. */
  note?: string
  /** Who asked. */
  actor?: string
}

/** The remark of what was asked. */
export function remarkOf(asked: object): Remark {
  const { reason, actor } = asked as { reason?: string; actor?: string }
  return { ...(reason !== undefined && { note: reason }), ...(actor !== undefined && { actor }) }
}

/** Something was said. */
export function isRemark({ note, actor }: Remark): boolean {
  return note !== undefined || actor !== undefined
}
