import { TriarchError } from '../error/error.ts'
import { isUrgent } from '../kernel/batching.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'

/** Strikes of a task for which an operator has spoken: one more is too much. */
export const PROBATION = 2

/** A message for a task in memory. */
export interface Mail {
  message: Message
  /** Inbox id, when it came through the store. */
  letter: number | null
}

/**
 * A letter that cannot be read is its task's trouble. After an operator's word for the task it is given up: that it came is all that is
 * known of it. Throws LETTER_CORRUPT.
 */
export function checkLegible(message: Message, letter: number | null, strikes: number | null): void {
  if (message.type !== 'illegible' || (strikes ?? 0) >= PROBATION) return
  throw new TriarchError('LETTER_CORRUPT', `letter ${letter} to the task cannot be read`, { details: { letter } })
}

/** Whether a turn is due: children of a batch that ended may wait for more of them, to be recorded together. */
export function isPressing(state: TaskState, mail: readonly Mail[]): boolean {
  return mail.some(({ message }) => isUrgent(state, message, mail.length))
}
