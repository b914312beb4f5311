import { TriarchError } from '../../error/error.ts'
import { Given } from './audience.ts'

/** Tells what the workflow's code asked for and never looked at. */
export class Watch {
  /** Before anybody looked at them. */
  readonly #refused: { promise: Given<never>; error: unknown }[] = []

  refuse(promise: Given<never>, error: unknown): void {
    if (Given.overlooked(promise) !== null) this.#refused.push({ promise, error })
    Given.refuse(promise, error)
  }

  /** Why code that returns now has not done what it asked for; null: it has. `waiting`: what is not settled. */
  forgotten(waiting: Iterable<Given<never>>): TriarchError | null {
    for (const { promise, error } of this.#refused) {
      const name = Given.overlooked(promise)
      if (name !== null) return unawaited(name, `failed: ${(error as Error).message}`, { cause: error })
    }
    for (const promise of waiting) {
      const name = Given.overlooked(promise)
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
