import type { Message } from '../kernel/message.ts'
import type { Audited } from './audit.ts'

/** A message for a task. */
export interface Post extends Audited {
  /** The id of the task. */
  task: string
  /** What it says. */
  message: Message
  /** The kernel can act on it without the workflow's code, so any scheduler may claim the task for it. */
  control: boolean
  /** Judged in the transaction that writes it; absent: it is posted whatever the task does. Not for those of a transition. */
  terms?: PostTerms
}

/** What must hold for a message to be posted. */
export interface PostTerms {
  /** The states of the task that it fits: `status`, or `stopped/result`. A task that has not stopped and has an unread `pause` counts as paused, too. */
  fits: readonly string[]
  /** What there is room for; null: it is no matter of room. */
  room: PostRoom | null
}

/** What there is room for in an inbox. */
export interface PostRoom {
  /**
   * The letters that count, in number only: of this kind, and by this name (`letterName`) unless it is null. Null: all mail (events and
   * signals), and what the task keeps of it.
   */
  only: { kind: Message['type']; name: string | null } | null
  /** The most there may be, with this one. One letter has room where there is none, whatever its size. */
  letters: number
  /** The most bytes they may have, with this one. */
  bytes: number
  /** What the task keeps unheard, or may keep, where it says nothing of it (by letters of type `kept`). */
  unsaid: { letters: number; bytes: number }
  /** The last record of the task by which that is known: there is no room as soon as there is another. Null: whatever it does. */
  asOf: number | null
}

/** `unknown`: there is no such task. `unfit`: its state takes no such message. `full`: there is no room for it. */
export type PostOutcome = 'posted' | 'unknown' | 'unfit' | 'full'

/** By what letters of one kind are told apart in an inbox: events by their name, signals by the key of their step. Null: others are not. */
export function letterName(message: Message): string | null {
  return message.type === 'event' ? message.name : message.type === 'signal' ? message.key : null
}
