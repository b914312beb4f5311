/** Of a name by which one process leads: who does. */
export interface LeaderRow {
  /** The name that it leads by. */
  name: string
  /** The node that leads, and lives as far as the store knows; null: nobody does. */
  node: string | null
  /** Of whoever led last; the next is higher. */
  token: number
}

/** Which: these names, or a page of all that there are, by name. */
export type LeaderQuery = { names: readonly string[] } | { after: string; limit: number }

/** A node that wants to lead. */
export interface Candidacy {
  /** The name that it wants to lead by. */
  name: string
  /** The node, which must live. */
  node: string
  /** The token when it was last read; 0: there was none. The new one is the next. */
  expected: number
}

/** A leadership that a node has. */
export interface Leading {
  /** The name that it leads by. */
  name: string
  /** The node. */
  node: string
  /** By which it leads. */
  token: number
}

/** Apart from the leases of the engine's own. */
export const LEADER = 'leader:'

/** A leadership is over with its node, or by its word, and by no clock. */
export const FOR_EVER = 8_640_000_000_000_000
