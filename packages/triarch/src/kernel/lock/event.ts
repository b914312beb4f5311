import type { ErrorRecord, Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { TaskOutcome } from '../status.ts'

export type LockDecision =
  | { type: 'lockRequested'; id: number; name: string; until: number | null }
  /** `id`: the step of a plan that releases the lock. */
  | { type: 'lockReleased'; lock: number; id?: number }
  /**
   * The code has stopped waiting for a signal or a lock that it asked for under this id, and asks again if it needs it. `signal`: a signal
   * that had arrived for it and goes to another wait.
   */
  | { type: 'waitCancelled'; id: number; lock?: true; signal?: { name: string; payload: Json } }

export type LockFact =
  /** The task requests the locks of its submission. */
  | { type: 'locksRequested' }
  /** `fence`: the fencing number, higher than that of any earlier grant of the lock. */
  | { type: 'lockGranted'; id: number; fence?: number }
  | { type: 'lockRefused'; id: number; error: ErrorRecord }
  | ({ type: 'thawed'; startAt?: number } & Remark)
  /** `result` null: the store does not know the task (any more). */
  | { type: 'predecessorStopped'; task: string; result: TaskOutcome | null }
