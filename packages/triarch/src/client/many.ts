import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import { TriarchError } from '../error/error.ts'
import type { TaskOptions } from './submission.ts'
import type { TaskHandle } from './task.ts'

/** Tasks of one list that are under way at a time: they share transactions, and bound what is held of a list without end. */
export const MOST_AT_ONCE = 1_000

/**
 * One task of a list that is submitted: its input, and what is said of it beside (`TaskOptions`).
 * @example
 * const entry: TaskEntry<number> = { input: 10, id: 'o-1', completeBy: '1h' }
 */
export interface TaskEntry<I = unknown> extends TaskOptions {
  /** What the workflow is given. */
  input: I
}

/**
 * What became of one task of a list, in the words of `Promise.allSettled`: `value` is its handle; `reason` why it was not submitted, a
 * TriarchError.
 * @example
 * const told = (results: SubmitResult[]) =>
 *   results.map((it) => (it.status === 'fulfilled' ? it.value.id : String(it.reason)))
 */
export type SubmitResult<O = unknown, E extends SignalSchemas = NoSignals> = PromiseSettledResult<TaskHandle<O, E>>

/**
 * Each entry by itself, a wave of them at a time, in their order. Throws INVALID_OPTION: they are no list, and what the list throws
 * itself; what was submitted by then stays.
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
