import type { LockRequest } from './gate.ts'
import type { Post } from './post.ts'
import type { Creation, NewTask, Snapshot } from './task.ts'
import type { WorkRequest } from './work.ts'

/** Several transitions of one task may not be in one batch: the next one waits for the outcome of the last. */
export interface Transition {
  /** The row, when known; null for a task created by this very transition (`create`). */
  key: number | null
  /** The id of the task. */
  id: string
  /** The node that owns the task. */
  node: string
  /** By which it owns it: the fence. */
  epoch: number
  /**
   * Position of this record in the task's gapless history, from 1; of a transition without events, that of the last record (0:
   * not known). It is written only where the record before is there, and is the one of `lastAt`.
   */
  seq: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** When the last record known was written: a store that went back may have another in its place. Null: not known. */
  lastAt: number | null
  /** JSON array of the events of this record; null appends none (a mere release). */
  events: string | null
  /** The task that this transition creates, which no step of another asked for; null: it is there. */
  create: Omit<Creation, 'parentStep'> | null
  /** Written when something in it changed. */
  snapshot: Snapshot | null
  /** Inbox letters consumed by this record. */
  consumed: readonly number[]
  /** Step requests that go through the work queue. */
  work: readonly WorkRequest[]
  /** Steps whose queued requests are withdrawn: unclaimed ones at once as a `withdrawn` reply, running ones by a flag. */
  withdraw: readonly number[]
  /** Steps whose outstanding requests no longer matter (expired, forced stop): rows are deleted. */
  forget: readonly number[]
  /** Tasks that it creates. */
  children: readonly NewTask[]
  /** Messages that it sends to other tasks. */
  posts: readonly Post[]
  /** Claims given back, then asked for: once all transitions of the batch are written. */
  gates?: { locks: readonly LockRequest[]; unlocks: readonly number[] }
  /** Ownership is given back. `wakeAt`: next instant to look, null: only a message wakes it. */
  release: Release | null
  /** Replay starts anew from this record (it holds a `continuedAsNew`). */
  rebase: boolean
}

/** How a transition gives its task back. */
export interface Release {
  /** The next instant at which the task is looked at (ms since the epoch); null: only a message wakes it. */
  wakeAt: number | null
  /** It may be claimed at once. */
  ready: boolean
  /** Its in-process attempts are lost. */
  orphaned: boolean
  /**
   * Requests that the task waits for and that none of its records tells of. Where one of them is gone, and no reply is there, the release
   * is refused (`lost`): the fence of the last record does not show that the store went back behind them, and nobody would request them again.
   */
  awaits?: readonly Pick<WorkRequest, 'step' | 'operation' | 'attempt'>[]
}

/** What became of a transition. */
export type CommitOutcome =
  /** `told`: letters went to other tasks because this one stopped or gave back a lock. */
  | { ok: true; key: number; told?: true }
  /** Another owner has it (epoch or sequence): discard and reload. */
  | { ok: false; reason: 'fenced' }
  /** A request that it awaits is not there any more: the store went back behind what it acknowledged. */
  | { ok: false; reason: 'lost' }
  /** `create` met an existing id. */
  | { ok: false; reason: 'exists' }

/** What became of a submission. */
export interface SubmitOutcome {
  /** False: there is a task of this id, or a lock kept it from being created. */
  created: boolean
  /** The number of the task in the store. */
  key: number
  /** Inside the caller's transaction and not created: the first record of the task there is, which may not be committed yet. */
  first?: string
  /** Not created: a lock it wanted with `reject` (`lock`) is held by this task. */
  heldBy?: string
  /** The name of that lock. */
  lock?: string
}
