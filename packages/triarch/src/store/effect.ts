import type { Isolation } from '../definition/context.ts'

/** What a step does to the user's tables, once. */
export interface Effect {
  /** The task's row, and the fence: whoever does not own it has no effects. */
  key: number
  node: string
  epoch: number
  step: number
  /** Of the first step of the task's present run: what the store kept for those before it is of no more use. */
  firstStep: number
  /** The same for every attempt of the step: its idempotency key. */
  name: string
}

export interface TransactionBounds {
  /** How long it may take with all its repetitions (ms). */
  within: number
  /** Undoes it, unless the commit is under way already. */
  signal: AbortSignal
  isolation: Isolation
}

export type EffectOutcome =
  | { ok: true; answer: string }
  /** Another owner has the task. Nothing was written. */
  | { ok: false; reason: 'fenced' }
