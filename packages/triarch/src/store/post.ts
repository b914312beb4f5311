import type { Message } from '../kernel/message.ts'

export interface Post {
  task: string
  message: Message
  /** The kernel can act on it without the workflow's code, so any scheduler may claim the task for it. */
  control: boolean
  /** Judged in the transaction that writes it; absent: it is posted whatever the task does. Not for those of a transition. */
  terms?: PostTerms
}

export interface PostTerms {
  /** The states of the task that it fits: `status`, or `stopped/result`. */
  fits: readonly string[]
  /** What may be undelivered of the task with it; null: it is no matter of room. */
  room: { letters: number; bytes: number } | null
  /** Texts of the task's own `full` letter by which it takes no more of this, or takes it all the same. */
  full: { if: string; unless: string | null } | null
}

/** `unknown`: there is no such task. `unfit`: its state takes no such message. `full`: there is no room for it. */
export type PostOutcome = 'posted' | 'unknown' | 'unfit' | 'full'
