import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { FairShare } from '../kernel/task/order.ts'
import type { Audited } from './audit.ts'
import type { LockRequest } from './gate.ts'
import type { HistoryRecord } from './history.ts'

/** A task to be created, with its first history record (`submitted`). */
export interface NewTask {
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** Higher first. */
  priority: number
  /** Tags by which it can be found. */
  tags: Record<string, string>
  /** The tenant or key that the task counts for, among those that share the queue of ready tasks. */
  share?: FairShare
  /** `planned`: its first record holds the plan. */
  status: 'scheduled' | 'pending' | 'planned'
  /** When it was created (ms since the epoch). */
  at: number
  /** The task is not claimed before this instant, unless a message comes; null: at once. */
  startAt: number | null
  /** The next instant at which the supervisor must act even if no node can run the task (start-before, complete-by). */
  deadline: number | null
  /** The task that starts it; null if none does. */
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** History record 1. */
  events: string
  /** Locks and tasks that it waits for. It becomes ready when a message comes: about its locks, about those tasks, or any other. */
  gates?: { locks: readonly LockRequest[]; after: readonly string[] }
}

/** A task that is created by its owner; its first record is that of the transition. */
export type Creation = Omit<NewTask, 'events'>

/** The part of the task row that is derived from the history. */
export interface Snapshot {
  /** The state of the task between submission and end. */
  status: TaskStatus
  /** How it ended; `pending` until then. */
  result: TaskOutcome
  /** Failed attempts of all steps so far. */
  failures: number
  /** The next instant at which the supervisor must act even if no node can run the task. */
  deadline: number | null
  /** Inputs, outputs and errors of its steps, as JSON text. */
  progress: string | null
  /** The output of the workflow, as JSON text. */
  output: string | null
  /** Why it stopped or is paused, as JSON text. */
  error: string | null
  /** Why it is paused, as JSON text. */
  pause: string | null
}

/** A task from another store: the fields of its row, and its whole history. */
export interface ImportedTask extends Audited {
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** Higher first. */
  priority: number
  /** The tags of its submission. */
  tags: Record<string, string>
  /** The tenant or key that the task counts for, among those that share the queue of ready tasks. */
  share?: FairShare
  /** When it was created (ms since the epoch). */
  at: number
  /** The task that started it; the row names it if that task exists in this store; null: none did. */
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** The row as derived from its history. */
  snapshot: Snapshot
  /** The record from which on it is replayed. */
  base: number
  /** Whether a node should claim it. */
  ready: boolean
  /** Whether the outcomes of attempts that ran in the other store are unknown here. */
  orphaned: boolean
  /** All records, the oldest first. */
  records: readonly Pick<HistoryRecord, 'seq' | 'at' | 'events'>[]
  /** Tasks that it started: rows of these that name no parent get this task and this step as their parent. */
  children: readonly { task: string; step: number }[]
}
