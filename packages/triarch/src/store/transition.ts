import type { LockRequest } from './gate.ts'
import type { Post } from './post.ts'
import type { Creation, NewTask, Snapshot } from './task.ts'
import type { WorkRequest } from './work.ts'

/**
 * The changes that one commit makes to one task. A batch may have only one transition of each task: the next one waits
 * for the outcome of the last.
 */
export interface Transition {
  /** The key of the row; null for a task created by this transition (`create`). */
  key: number | null
  /** The id of the task. */
  id: string
  /** The node that owns the task. */
  node: string
  /** The epoch of its ownership, which is the fence. */
  epoch: number
  /**
   * The number of this record in the task's history, which has no gaps, from 1; for a transition without events, the
   * number of the last record (0: not known). The transition is written only if the record before it exists and was
   * written at `lastAt`.
   */
  seq: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** When the last known record was written: a store that went back may have another record in its place. Null: not known. */
  lastAt: number | null
  /** JSON array of the events of this record; null appends no record (a mere release). */
  events: string | null
  /** The task that this transition creates, if it is not a child that a step asked for; null if the task exists already. */
  create: Omit<Creation, 'parentStep'> | null
  /** The new snapshot; null if nothing in it changed. */
  snapshot: Snapshot | null
  /** Ids of the inbox messages that this record consumes. */
  consumed: readonly number[]
  /** Step requests that go through the work queue. */
  work: readonly WorkRequest[]
  /** Steps whose queued requests are withdrawn: a waiting request becomes a `withdrawn` reply at once, a running one is flagged. */
  withdraw: readonly number[]
  /** Steps whose outstanding requests no longer matter (expired, forced stop): their rows are deleted. */
  forget: readonly number[]
  /** Child tasks that it creates. */
  children: readonly NewTask[]
  /** Messages that it sends to other tasks. */
  posts: readonly Post[]
  /** Locks to release, then to request, once all transitions of the batch are written. */
  gates?: { locks: readonly LockRequest[]; unlocks: readonly number[] }
  /** Set if the node releases the task. */
  release: Release | null
  /** Replay starts again from this record (it holds a `continuedAsNew`). */
  rebase: boolean
}

/** How a transition releases its task. */
export interface Release {
  /** When the task becomes ready by itself (ms since the epoch); null: only a message wakes it. */
  wakeAt: number | null
  /** Whether it may be claimed at once. */
  ready: boolean
  /** Whether its in-process attempts are lost. */
  orphaned: boolean
  /**
   * Requests that the task waits for and that are in none of its records. If one of them is gone and there is no reply,
   * the release is refused (`lost`): the fence of the last record does not show that the store lost them, and no node
   * would request them again.
   */
  awaits?: readonly Pick<WorkRequest, 'step' | 'operation' | 'attempt'>[]
}

/** The outcome of a transition. */
export type CommitOutcome =
  /** `told`: other tasks got messages because this one stopped or released a lock. */
  | { ok: true; key: number; told?: true }
  /** The task has another owner or a later record: discard and reload. */
  | { ok: false; reason: 'fenced' }
  /** A request that it awaits no longer exists: the store lost what it had acknowledged. */
  | { ok: false; reason: 'lost' }
  /** `create` found a task with this id. */
  | { ok: false; reason: 'exists' }

/** The outcome of a submission. */
export interface SubmitOutcome {
  /** False if a task of this id exists, or a lock kept it from being created. */
  created: boolean
  /** The number of the task in the store. */
  key: number
  /** Set inside the caller's transaction if the task exists: the first record of that task, which may not be committed yet. */
  first?: string
  /** Set if the task was not created because another task holds a lock that it requested with `reject` (`lock`): the id of that task. */
  heldBy?: string
  /** The name of that lock. */
  lock?: string
}
