import type { Decision } from '../../kernel/event.ts'
import type { Json } from '../../kernel/json.ts'
import type { Given } from './audience.ts'

/** What the code waits for and may leave: a signal, or a lock. Whoever looks at it again has it asked for again. */
export interface Wish {
  /** The decision that asks for it. */
  ask(id: number): Extract<Decision, { type: 'waitStarted' | 'lockRequested' }>
  /** What the code is given for what came; an Error: it is no good, and why. */
  take(came: Json, id: number): { value: unknown } | Error
  /** The code's own way to leave it; what it aborts with rejects the promise. */
  signal?: AbortSignal | undefined
}

/** A wish and the promise of it. */
export interface Wished extends Wish {
  promise: Given<never>
  /** Lets go of the signal. */
  over(): void
  /** Of the decision that asks now. */
  id: number
  /** `left`: it is asked for by nobody now. */
  standing: 'asked' | 'left' | 'done'
}

/** The decision that ends it; `came`: with what had come. */
export function withdrawal({ ask }: Wish, id: number, came?: { payload: Json }): Decision {
  const asked = ask(id)
  if (asked.type === 'lockRequested') return { type: 'waitCancelled', id, lock: true }
  return { type: 'waitCancelled', id, ...(came && { signal: { name: asked.name, payload: came.payload } }) }
}
