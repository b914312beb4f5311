import { TriarchError } from '../error/error.ts'
import type { Given, Listener } from './audience.ts'

/** A promise that is neither looked at nor fulfilled; a rejection with its error. */
class Open implements Listener {
  error: unknown = undefined
  readonly name: string
  readonly #all: Set<Open>

  constructor(name: string, all: Set<Open>) {
    this.name = name
    this.#all = all
    all.add(this)
  }

  looked(): void {
    this.#all.delete(this)
  }

  fulfilled(): void {
    this.#all.delete(this)
  }

  rejected(error: unknown): void {
    this.error = error
  }
}

/** Tells promises that somebody looked at from those that nobody did. */
export class Watch {
  readonly #open = new Set<Open>()

  add(promise: Given<unknown>, name: string): void {
    promise.attend(new Open(name, this.#open))
  }

  /** Why code that returns now has not done what it asked for; null: it has. */
  forgotten(): TriarchError | null {
    for (const { name, error } of this.#open) {
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
