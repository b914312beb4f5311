import type { Delivery, TaskState } from './state.ts'

/** What an event of the history means: how it changes the state. What the workflow's code is to be told goes to `deliveries`. */
export type Fold<E> = (state: TaskState, event: E, at: number, deliveries: Delivery[]) => void

/** One for each type of event, none forgotten. */
export type Folds<E extends { type: string }> = { readonly [T in E['type']]: Fold<Extract<E, { type: T }>> }
