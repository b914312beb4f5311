import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { Share } from '../kernel/task/order.ts'
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
  /** For finding it. */
  tags: Record<string, string>
  /** Whose it is, among those who share the line of ready tasks. */
  share?: Share
  /** `planned`: its first record holds the plan. */
  status: 'scheduled' | 'pending' | 'planned'
  /** When it was created (ms since the epoch). */
  at: number
  /** Not before this instant, unless a letter comes; null: now. */
  startAt: number | null
  /** The next instant at which somebody must look even if nobody can run it (start-before, complete-by). */
  deadline: number | null
  /** The task that starts it; null: none does. */
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** History record 1. */
  events: string
  /** It is not ready before a letter comes: about its locks, about the tasks it comes after, or any other. */
  gates?: { locks: readonly LockRequest[]; after: readonly string[] }
}

/** A task that is created by its owner: its first record is that of the transition. */
export type Creation = Omit<NewTask, 'events'>

/** The part of the task row that is derived from the history. */
export interface Snapshot {
  /** Where the task is between submission and end. */
  status: TaskStatus
  /** How it ended; `pending` until it has. */
  result: TaskOutcome
  /** Failed attempts of all steps so far. */
  failures: number
  /** Next instant at which the supervisor must look even if nobody can run the task. */
  deadline: number | null
  /** Inputs, outputs and errors as JSON texts. */
  progress: string | null
  /** What the workflow returned, as JSON text. */
  output: string | null
  /** Why it stopped or is paused, as JSON text. */
  error: string | null
  /** Why it is paused, as JSON text. */
  pause: string | null
}

/** A task that comes from another store: what its row is made of, and the whole of its history. */
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
  /** Whose it is, among those who share the line of ready tasks. */
  share?: Share
  /** When it was created (ms since the epoch). */
  at: number
  /** The task that started it, which its row names where that one is here; null: none did. */
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** The row as its history has it. */
  snapshot: Snapshot
  /** The record from which on it is replayed. */
  base: number
  /** Somebody should take it. */
  ready: boolean
  /** What was under way there is not known here. */
  orphaned: boolean
  /** All of them, the oldest first. */
  records: readonly Pick<HistoryRecord, 'seq' | 'at' | 'events'>[]
  /** Tasks that it started: rows that name no parent, and that step, are its own from now on. */
  children: readonly { task: string; step: number }[]
}
