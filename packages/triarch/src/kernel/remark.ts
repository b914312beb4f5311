/** The note and name that the requester of an operation gave, as the history keeps them. */
export interface Remark {
  /** The reason in the requester's words; an event's own `reason` is the engine's. */
  note?: string
  /** Who asked. */
  actor?: string
}

/** The remark that a request contains. */
export function remarkOf(asked: object): Remark {
  const { reason, actor } = asked as { reason?: string; actor?: string }
  return { ...(reason !== undefined && { note: reason }), ...(actor !== undefined && { actor }) }
}

/** Whether the remark contains anything. */
export function isRemark({ note, actor }: Remark): boolean {
  return note !== undefined || actor !== undefined
}
