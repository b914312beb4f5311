import type { Jsonified } from '../value/jsonified.ts'
import type { StepContext, StepSignal, Verification } from './step.ts'

/**
 * What the module of an action that runs in threads exports.
 * @example
 * export const run = (input: { width: number }) => ({ pixels: input.width ** 2 })
 * const code = { run } satisfies ThreadModule
 */
export interface ThreadModule {
  /** Does the work. */
  run(input: never, step: StepContext, received?: StepSignal): unknown
  /** Takes back what `run` did; called if the action says `undo: true`. */
  undo?(done: never, step: StepContext): unknown
  /** Whether a lost attempt took effect; called if the action says `verify: true`. */
  verify?(input: never, step: StepContext): Verification<unknown> | Promise<Verification<unknown>>
}

/** What a module's `run` is given, and what a workflow gets back. */
export type ThreadInput<M> = M extends { run(input: infer I, ...rest: never[]): unknown } ? I : never
/** What a workflow gets back of a module's `run`. */
export type ThreadOutput<M> = M extends { run(...args: never[]): infer R } ? Jsonified<Awaited<R>> : never
