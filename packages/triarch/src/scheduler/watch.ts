import { TriarchError } from '../error/error.ts'

/**
 * Tells promises that somebody looked at from those that nobody did: whoever awaits one, chains to it, or gives it to
 * Promise.all and its like asks for its constructor, and each native promise otherwise stays what it is, tick for tick.
 */
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
    onLook.set(promise, () => this.#open.delete(promise))
    Object.setPrototypeOf(promise, Watched)
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

const onLook = new WeakMap<object, () => void>()

const Watched: object = Object.create(Promise.prototype, {
  constructor: {
    get(this: object) {
      onLook.get(this)?.()
      return Promise
    },
  },
})
