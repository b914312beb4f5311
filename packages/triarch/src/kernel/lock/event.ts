import type { ErrorRecord, Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { TaskOutcome } from '../status.ts'

export type LockDecision =
  | { type: 'lockRequested'; id: number; name: string; until: number | null }
  /** `id`: the step of a plan that gives it back. */
  | { type: 'lockReleased'; lock: number; id?: number }
  /**
   * Nobody listens any more to what the code asked for under this id, a signal or a lock: it asks again if somebody does.
   * `signal`: had come to it already, and goes to who waits for one.
   */
  | { type: 'waitCancelled'; id: number; lock?: true; signal?: { name: string; payload: Json } }

export type LockFact =
  /** The task asks for the locks of its submission. */
  | { type: 'locksRequested' }
  /** `fence`: higher than that of any grant before. */
  | { type: 'lockGranted'; id: number; fence?: number }
  | { type: 'lockRefused'; id: number; error: ErrorRecord }
  | ({ type: 'thawed'; startAt?: number } & Remark)
  /** `result` null: the store does not know the task (any more). */
  | { type: 'predecessorStopped'; task: string; result: TaskOutcome | null }
