import type { Audited } from './audit.ts'
import type { Post } from './post.ts'
import type { Snapshot } from './task.ts'

/** Whose a task is: the fence. */
export interface Ownership {
  /** The number of the task in the store. */
  key: number
  /** The node that owns it. */
  node: string
  /** By which it owns it. */
  epoch: number
}

/** A task that is set apart, by its owner. */
export interface Quarantine extends Ownership {
  /** The id of the task. */
  id: string
  /** When it was decided (ms since the epoch). */
  at: number
  /** Whether an attempt may have been in flight in its owner: whoever takes it next counts such an attempt as lost. */
  orphaned: boolean
  /** Why, as a record; and as the row has it, which makes it a pause. Without that the task keeps its status: it has stopped. */
  record: { events: string; pause: string | null } | null
}

/** A task that is set apart goes on from a record: what comes after it is given up. */
export interface Truncation extends Audited {
  /** The id of the task. */
  id: string
  /** The last record that stays. */
  after: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** JSON array of events: the record that comes after it instead. */
  events: string
  /** The row as the record leaves it. */
  snapshot: Snapshot
  /** The record from which on it is replayed. */
  base: number
  /** The steps whose claims on locks it keeps. */
  locks: readonly number[]
}

/** The end of a task that is set apart, without its history. */
export interface Termination extends Audited {
  /** The id of the task. */
  id: string
  /** When it was decided (ms since the epoch). */
  at: number
  /** JSON array of events: its last record. */
  events: string
  /** The row as the record leaves it. */
  snapshot: Snapshot
  /** Messages to other tasks, such as its parent. */
  posts: readonly Post[]
}
