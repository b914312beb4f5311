import type { Delivery, TaskState } from './state.ts'

/** How one type of event changes the state. Outcomes for the workflow's code are pushed to `deliveries`. */
export type Fold<E> = (state: TaskState, event: E, at: number, deliveries: Delivery[]) => void

/** One fold for each type of event; the type makes the compiler refuse a table that misses one. */
export type Folds<E extends { type: string }> = { readonly [T in E['type']]: Fold<Extract<E, { type: T }>> }
