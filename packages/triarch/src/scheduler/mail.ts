import type { Message } from '../kernel/message.ts'

/** A message for a task in memory. */
export interface Mail {
  message: Message
  /** Inbox id, when it came through the store. */
  letter: number | null
}
