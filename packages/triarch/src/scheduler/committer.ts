import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { CommitOutcome, StateStore, Transition } from '../store/port.ts'

/** Most transitions in one database transaction: bounds how long others wait for the write lock. */
const LARGEST_BATCH = 500

interface Waiting {
  transition: Transition
  done: (outcome: CommitOutcome | Error) => void
}

/**
 * Group commit: transitions that come while a commit is in flight, or in the same round of the event loop, share the
 * next one, and so its one flush to disk.
 */
export class Committer {
  readonly #environment: Environment
  readonly #store: StateStore
  #queue: Waiting[] = []
  #busy = false

  constructor(environment: Environment, store: StateStore) {
    this.#environment = environment
    this.#store = store
  }

  /** Calls back with the transition's own outcome, or with the error that kept the whole batch from being written. */
  commit(transition: Transition, done: (outcome: CommitOutcome | Error) => void): void {
    this.#queue.push({ transition, done })
    if (this.#busy) return
    this.#busy = true
    this.#environment.soon(() => void this.#flush())
  }

  async #singly(batch: readonly Waiting[]): Promise<void> {
    for (const { transition, done } of batch) {
      const outcome = await this.#store.commit([transition]).then(
        ([first]) => first,
        (error: Error) => error,
      )
      done(outcome ?? new TriarchError('INVARIANT', 'the store answered nothing'))
    }
  }

  async #flush(): Promise<void> {
    const batch = this.#queue.splice(0, LARGEST_BATCH)
    try {
      const outcomes = await this.#store.commit(batch.map(({ transition }) => transition))
      for (const [index, { done }] of batch.entries()) {
        done(outcomes[index] ?? new TriarchError('INVARIANT', 'the store answered fewer outcomes than transitions'))
      }
    } catch (error) {
      // One transition the store cannot take must not take its neighbours with it: each is tried alone.
      if (batch.length > 1 && isTriarchError(error, 'STORE_FAILED')) await this.#singly(batch)
      else for (const { done } of batch) done(error as Error)
    }
    if (this.#queue.length > 0) this.#environment.soon(() => void this.#flush())
    else this.#busy = false
  }
}
