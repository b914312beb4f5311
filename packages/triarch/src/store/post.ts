import type { Message } from '../kernel/message.ts'
import type { Audited } from './audit.ts'

/** A message for a task. */
export interface Post extends Audited {
  /** The id of the task. */
  task: string
  /** The message. */
  message: Message
  /** Whether the kernel can handle it without the workflow's code, so that any scheduler may claim the task for it. */
  control: boolean
  /**
   * Conditions, checked in the transaction that writes the message; absent: it is posted whatever the state of the
   * task. Posts of a transition have none.
   */
  terms?: PostTerms
}

/** The conditions for posting a message. */
export interface PostTerms {
  /**
   * The states in which the task accepts it: `status`, or `stopped/result`. A task that has not stopped and has an
   * unread `pause` counts as paused, too.
   */
  fits: readonly string[]
  /** The room that must be left in the inbox; null: any. */
  room: PostRoom | null
}

/** The room of an inbox. */
export interface PostRoom {
  /**
   * If set, only the number of messages of this kind counts, and of this name (`letterName`) unless it is null. Null:
   * all events and signals count, and what the task retains of them.
   */
  only: { kind: Message['type']; name: string | null } | null
  /** Most messages, with this one. A single message fits an otherwise empty inbox, whatever its size. */
  letters: number
  /** Most bytes, with this one. */
  bytes: number
  /** How much the task retains unconsumed, or may retain, if it has not reported that (by messages of type `kept`). */
  unsaid: { letters: number; bytes: number }
  /**
   * The last record of the task from which this is known: as soon as there is another, there is no room. Null: it does
   * not depend on the record.
   */
  asOf: number | null
}

/** `unknown`: there is no such task. `unfit`: its state does not accept the message. `full`: there is no room for it. */
export type PostOutcome = 'posted' | 'unknown' | 'unfit' | 'full'

/**
 * Returns the name by which messages of one kind are counted in an inbox: for events their name, for signals the key of
 * their step. Null: others are not.
 */
export function countedName(message: Message): string | null {
  return message.type === 'event' ? message.name : message.type === 'signal' ? message.key : null
}
