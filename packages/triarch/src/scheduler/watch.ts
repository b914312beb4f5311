import { TriarchError } from '../error/error.ts'
import { attend } from './audience.ts'

/** Tells promises that somebody looked at from those that nobody did. */
export class Watch {
  /** Neither looked at nor fulfilled; a rejection with its error. */
  readonly #open = new Map<Promise<unknown>, { name: string; error?: unknown }>()

  add(promise: Promise<unknown>, name: string): void {
    this.#open.set(promise, { name })
    promise.then(
      () => this.#open.delete(promise),
      (error) => {
        if (this.#open.has(promise)) this.#open.set(promise, { name, error })
      },
    )
    attend(promise, { looked: () => void this.#open.delete(promise) })
  }

  /** Why code that returns now has not done what it asked for; null: it has. */
  forgotten(): TriarchError | null {
    for (const { name, error } of this.#open.values()) {
      const what = error === undefined ? 'was not done' : `failed: ${(error as Error).message}`
      return new TriarchError(
        'UNAWAITED_STEP',
        `the workflow returned without awaiting "${name}", which ${what} (await it, use task.start, or say .catch(() => {}))`,
        error === undefined ? {} : { cause: error },
      )
    }
    return null
  }
}
