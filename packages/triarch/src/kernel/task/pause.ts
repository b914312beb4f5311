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
  /** Set apart by the node that had it: the error says why. */
  | 'quarantine'

export interface Pause {
  reason: PauseCause
  /** What it was before, and will be again. */
  from: TaskStatus
  error: ErrorRecord | undefined
  /** The operator's own words. */
  note: string | undefined
  /** Who paused it, as far as they said. */
  actor?: string
  /** The code stopped at a mismatch or an error of its own, and starts anew when the task goes on. */
  broken: boolean
  /** The step that it is about: what it is called, and its action. */
  step?: { name: string; action?: string }
}

/** Why a task stops doing what it does, and what comes when all that ran is settled. */
export interface Closing {
  cause: 'returned' | 'threw' | 'continue' | 'cancel' | 'deadline' | 'limit' | 'operator'
  compensate: boolean
  output?: Json
  error?: ErrorRecord
}

/**
 * Whether children that are called off half done are undone. They stay as they are where the task fails and undoes nothing, so that
 * a retry goes on with them. A task that ended well, or goes on as another run, will not come back to them.
 */
export function undoesCalledOff({ cause, compensate }: Closing): boolean {
  return compensate || isNormal(cause)
}

/** The code of the run came to its end. */
export function isNormal(cause: Closing['cause']): boolean {
  return cause === 'returned' || cause === 'continue'
}
