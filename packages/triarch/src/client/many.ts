import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import { TriarchError } from '../error/error.ts'
import type { TaskOptions } from './submission.ts'
import type { TaskHandle } from './task.ts'

/** Most tasks of one list submitted at a time: they share transactions, and an endless list uses bounded memory. */
export const MOST_AT_ONCE = 1_000

/**
 * One task of a list to be submitted: its input, and its options (`TaskOptions`).
 * @example
 * const entry: TaskEntry<number> = { input: 10, id: 'o-1', completeBy: '1h' }
 */
export interface TaskEntry<I = unknown> extends TaskOptions {
  /** The workflow's input. */
  input: I
}

/**
 * The result for one task of a list, in the form of `Promise.allSettled`: `value` is its handle; `reason` is a TriarchError that says why
 * it was not submitted.
 * @example
 * const told = (results: SubmitResult[]) =>
 *   results.map((it) => (it.status === 'fulfilled' ? it.value.id : String(it.reason)))
 */
export type SubmitResult<O = unknown, E extends SignalSchemas = NoSignals> = PromiseSettledResult<TaskHandle<O, E>>

/**
 * Handles each entry separately, several at a time, in order. Throws INVALID_OPTION if the argument is not a list, and errors thrown by
 * the list itself; tasks submitted by then stay submitted.
 */
export async function eachEntry<I, R>(
  entries: Iterable<TaskEntry<I>>,
  submit: (input: I, options: TaskOptions) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = []
  for (const wave of waves(entries, MOST_AT_ONCE)) {
    const made = wave.map(async (entry) => {
      const { input, ...options } = checkEntry(entry)
      return submit(input, options)
    })
    for (const result of await Promise.allSettled(made)) results.push(result)
  }
  return results
}

function* waves<T>(items: Iterable<T>, most: number): Generator<T[]> {
  if (typeof items?.[Symbol.iterator] !== 'function' || typeof items === 'string')
    throw new TriarchError('INVALID_OPTION', 'submitMany takes a list of { input, …options }')
  let wave: T[] = []
  for (const item of items) {
    wave.push(item)
    if (wave.length < most) continue
    yield wave
    wave = []
  }
  if (wave.length > 0) yield wave
}

function checkEntry<I>(entry: TaskEntry<I>): TaskEntry<I> {
  if (typeof entry !== 'object' || entry === null)
    throw new TriarchError('INVALID_OPTION', 'submitMany: an entry must be { input, …options }')
  return entry
}
