import { TriarchError } from '../../error/error.ts'
import { TrackedPromise } from './audience.ts'

/** Finds what the workflow's code asked for and never awaited. */
export class UnawaitedWatch {
  /** Promises rejected before the code looked at them. */
  readonly #refused: { promise: TrackedPromise<never>; error: unknown }[] = []

  refuse(promise: TrackedPromise<never>, error: unknown): void {
    if (TrackedPromise.overlooked(promise) !== null) this.#refused.push({ promise, error })
    TrackedPromise.refuse(promise, error)
  }

  /** The error for code that returns without having awaited what it asked for; null: it has. `waiting`: the promises not settled yet. */
  forgotten(waiting: Iterable<TrackedPromise<never>>): TriarchError | null {
    for (const { promise, error } of this.#refused) {
      const name = TrackedPromise.overlooked(promise)
      if (name !== null) return unawaited(name, `failed: ${(error as Error).message}`, { cause: error })
    }
    for (const promise of waiting) {
      const name = TrackedPromise.overlooked(promise)
      if (name !== null) return unawaited(name, 'was not done', {})
    }
    return null
  }
}

function unawaited(name: string, what: string, options: ErrorOptions): TriarchError {
  return new TriarchError(
    'UNAWAITED_STEP',
    `the workflow returned without awaiting "${name}", which ${what} (await it, use task.start, or say .catch(() => {}))`,
    options,
  )
}
