import type { Audited } from './audit.ts'
import type { Post } from './post.ts'
import type { Snapshot } from './task.ts'

/** The ownership of a task, which is the fence. */
export interface Ownership {
  /** The number of the task in the store. */
  key: number
  /** The node that owns it. */
  node: string
  /** The epoch of its ownership. */
  epoch: number
}

/** A task that its owner puts into quarantine. */
export interface QuarantineEntry extends Ownership {
  /** The id of the task. */
  id: string
  /** When it was decided (ms since the epoch). */
  at: number
  /** Whether an attempt may have been in flight in its owner: the next owner counts such an attempt as lost. */
  orphaned: boolean
  /**
   * The record that states why, and the pause for the row; without a pause (null) the task keeps its status, because it
   * has stopped. Null: no record is appended.
   */
  record: { events: string; pause: string | null } | null
}

/** A task in quarantine goes on from an earlier record: the records after it are dropped. */
export interface Truncation extends Audited {
  /** The id of the task. */
  id: string
  /** The last record that stays. */
  after: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** JSON array of events: the record that replaces the dropped ones. */
  events: string
  /** The row after this record. */
  snapshot: Snapshot
  /** The record from which on it is replayed. */
  base: number
  /** The steps whose lock requests it keeps. */
  locks: readonly number[]
}

/** The end of a task in quarantine, without reading its history. */
export interface Termination extends Audited {
  /** The id of the task. */
  id: string
  /** When it was decided (ms since the epoch). */
  at: number
  /** JSON array of events: its last record. */
  events: string
  /** The row after this record. */
  snapshot: Snapshot
  /** Messages to other tasks, such as its parent. */
  posts: readonly Post[]
}
