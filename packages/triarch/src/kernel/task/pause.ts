import type { ErrorRecord, Json } from '../json.ts'
import type { TaskStatus } from '../status.ts'

/**
 * Why a task is paused: an operator, a lock, a step or undo that waits for an operator, code and history that disagree, an error
 * of the code.
 */
export type PauseCause =
  | 'operator'
  | 'lock'
  | 'step'
  | 'undo'
  | 'unknown-outcome'
  | 'mismatch'
  | 'error'
  /** The task was quarantined by its owner; the error says why. */
  | 'quarantine'

export interface Pause {
  reason: PauseCause
  /** When the task was paused. */
  since: number
  /** The status before the pause, which the task returns to. */
  from: TaskStatus
  error: ErrorRecord | undefined
  /** The operator's remark. */
  note: string | undefined
  /** Who paused the task, as far as it was given. */
  actor?: string
  /** The code stopped at a mismatch or an error of its own, and restarts when the task goes on. */
  broken: boolean
  /** The step that caused the pause: its name and action. */
  step?: { name: string; action?: string }
}

/** Why a task unwinds, and what follows once all that ran is settled. */
export interface Closing {
  cause: 'returned' | 'threw' | 'continue' | 'cancel' | 'deadline' | 'limit' | 'operator'
  compensate: boolean
  output?: Json
  error?: ErrorRecord
}

/**
 * Whether cancelled children that are half done are undone. They are left as they are if the task fails without undoing anything, so that a
 * retry continues with them. A task that ended well, or continues as new, does not return to them.
 */
export function undoesCalledOff({ cause, compensate }: Closing): boolean {
  return compensate || isNormal(cause)
}

/** The code of the run came to its end, rather than being stopped. */
export function isNormal(cause: Closing['cause']): boolean {
  return cause === 'returned' || cause === 'continue'
}
