import type { Isolation } from '../definition/call.ts'

/** What a step does to the user's tables, once. */
export interface Effect {
  /** The task's row, and the fence: whoever does not own it has no effects. */
  key: number
  /** The node that owns the task. */
  node: string
  /** By which it owns it. */
  epoch: number
  /** The number of the step in the task. */
  step: number
  /** Of the first step of the task's present run: what the store kept for those before it is of no more use. */
  firstStep: number
  /** The same for every attempt of the step: its idempotency key. */
  name: string
}

/** How long a transaction may take, and how far it sees others. */
export interface TransactionBounds {
  /** How long it may take with all its repetitions (ms). */
  within: number
  /** Undoes it, unless the commit is under way already. */
  signal: AbortSignal
  /** How far it sees others' changes. */
  isolation: Isolation
}

/** What became of a transaction: the effect's answer, or nothing. */
export type EffectOutcome =
  | { ok: true; answer: string }
  /** Another owner has the task, or the leadership is over. Nothing was written. */
  | { ok: false; reason: 'fenced' }
