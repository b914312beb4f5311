/** A leadership: one process at a time has it. */
export interface LeaderRow {
  /** The name of the leadership. */
  name: string
  /** The node that leads and is alive as far as the store knows; null: none. */
  node: string | null
  /** The fencing token of the last leader; the next is higher. */
  token: number
}

/** Selects leaderships by name, or a page of all, by name. */
export type LeaderQuery = { names: readonly string[] } | { after: string; limit: number }

/** A node that wants to lead. */
export interface Candidacy {
  /** The name of the leadership. */
  name: string
  /** The node, which must be alive. */
  node: string
  /** The token when it was last read; 0: there was none. The new token is the next. */
  expected: number
}

/** A leadership that a node has. */
export interface Leading {
  /** The name of the leadership. */
  name: string
  /** The node. */
  node: string
  /** The fencing token. */
  token: number
}

/** Prefix of the names of users' leases, which keeps them apart from the engine's own. */
export const LEADER = 'leader:'

/** The end time of a user's leadership: it ends with its node or when the node resigns, never by a clock. */
export const FOR_EVER = 8_640_000_000_000_000
