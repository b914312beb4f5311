import type { Decision } from '../../kernel/event.ts'
import type { Json } from '../../kernel/json.ts'
import type { TrackedPromise } from './audience.ts'

/** A wait for a signal or a lock. It is withdrawn when the code stops listening, and asked for again when the code listens anew. */
export interface Wish {
  /** The decision that asks for it, under this id. */
  ask(id: number): Extract<Decision, { type: 'waitStarted' | 'lockRequested' }>
  /** Turns what came into the value for the code; an Error says why it is unacceptable. */
  take(came: Json, id: number): { value: unknown } | Error
  /** Aborts the wait; its reason rejects the promise. */
  signal?: AbortSignal | undefined
}

/** A wait and its promise. */
export interface Wished extends Wish {
  promise: TrackedPromise<never>
  /** Removes the listener from the abort signal. */
  over(): void
  /** The id of the decision that currently asks. */
  id: number
  /** `left`: the wait is withdrawn for now. */
  standing: 'asked' | 'left' | 'done'
}

/** The decision that ends the wait. `came`: the signal that had come for it. */
export function withdrawal({ ask }: Wish, id: number, came?: { payload: Json }): Decision {
  const asked = ask(id)
  if (asked.type === 'lockRequested') return { type: 'waitCancelled', id, lock: true }
  return { type: 'waitCancelled', id, ...(came && { signal: { name: asked.name, payload: came.payload } }) }
}
