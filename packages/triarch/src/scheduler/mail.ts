import { isUrgent } from '../kernel/batching.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'

/** A message for a task in memory. */
export interface Mail {
  message: Message
  /** Inbox id, when it came through the store. */
  letter: number | null
}

/** Whether a turn is due: children of a batch that ended may wait for more of them, to be recorded together. */
export function isPressing(state: TaskState, mail: readonly Mail[]): boolean {
  return mail.some(({ message }) => isUrgent(state, message, mail.length))
}
