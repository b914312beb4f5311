import type { TaskResult, TaskStatus } from '../kernel/status.ts'
import type { LockRequest } from './gate.ts'

/** A task to be created, with its first history record (`submitted`). */
export interface NewTask {
  id: string
  workflow: string
  version: string
  priority: number
  tags: Record<string, string>
  status: 'scheduled' | 'pending' | 'planned'
  at: number
  /** Not before this instant; null: now. */
  startAt: number | null
  /** The next instant at which somebody must look even if nobody can run it (start-before, complete-by). */
  deadline: number | null
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** JSON array of events: history record 1. */
  events: string
  /** It is not ready before a letter comes: about its locks, about the tasks it comes after, or any other. */
  gates?: { locks: readonly LockRequest[]; after: readonly string[] }
}

/** A task that is created by its owner: its first record is that of the transition. */
export type Creation = Omit<NewTask, 'events'>

/** The part of the task row that is derived from the history. */
export interface Snapshot {
  status: TaskStatus
  result: TaskResult
  /** Failed attempts of all steps so far. */
  failures: number
  /** Next instant at which the supervisor must look even if nobody can run the task. */
  deadline: number | null
  /** Inputs, outputs and errors as JSON texts. */
  progress: string | null
  output: string | null
  error: string | null
  pause: string | null
}
