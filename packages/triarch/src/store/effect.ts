import type { Isolation } from '../definition/call.ts'

/** The writes of a step in the user's tables, which take effect once. */
export interface Effect {
  /** The key of the task's row. With `node` and `epoch` it is the fence: only the owner of the task may have effects. */
  key: number
  /** The node that owns the task. */
  node: string
  /** The epoch of its ownership. */
  epoch: number
  /** The number of the step in the task. */
  step: number
  /** The first step of the task's present run: answers stored for earlier steps are no longer needed. */
  firstStep: number
  /** The idempotency key of the step, the same for every attempt. */
  name: string
}

/** Time limit and isolation of a transaction. */
export interface TransactionBounds {
  /** The time limit for all its repetitions (ms). */
  within: number
  /** Rolls it back, unless the commit is under way already. */
  signal: AbortSignal
  /** The isolation level. */
  isolation: Isolation
}

/** The outcome of a transaction: the effect's answer, or nothing. */
export type EffectOutcome =
  | { ok: true; answer: string }
  /** The task has another owner, or the leadership is over. Nothing was written. */
  | { ok: false; reason: 'fenced' }
