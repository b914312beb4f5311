import type { Jsonified } from '../value/jsonified.ts'
import type { StepContext, StepSignal, Verification } from './step.ts'

/**
 * The exports of the module of an action that runs in threads.
 * @example
 * export const run = (input: { width: number }) => ({ pixels: input.width ** 2 })
 * const code = { run } satisfies ThreadModule
 */
export interface ThreadModule {
  /** Does the work. */
  run(input: never, step: StepContext, received?: StepSignal): unknown
  /** Undoes what `run` did; called if the action has `undo: true`. */
  undo?(done: never, step: StepContext): unknown
  /** Whether a lost attempt took effect; called if the action has `verify: true`. */
  verify?(input: never, step: StepContext): Verification<unknown> | Promise<Verification<unknown>>
}

/** The input type of a module's `run`, which workflows pass. */
export type ThreadInput<M> = M extends { run(input: infer I, ...rest: never[]): unknown } ? I : never
/** The output type of a module's `run`, which workflows get. */
export type ThreadOutput<M> = M extends { run(...args: never[]): infer R } ? Jsonified<Awaited<R>> : never
