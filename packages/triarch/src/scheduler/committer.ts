import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { CommitOutcome, StateStore, Transition } from '../store/port.ts'

/** Most transitions in one database transaction: bounds how long others wait for the write lock. */
const LARGEST_BATCH = 500
/** From this many on, a crowd is parted: half of it is written while the other half goes on. */
const CROWD = 96

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

  /** The next batch is on its way before the outcomes of the last are told: a store with a thread of its own never waits. */
  async #flush(): Promise<void> {
    let done: Done = null
    // Those written together go on together and come back together. All at once, they and the store would take turns.
    let size = this.#queue.length >= CROWD ? Math.ceil(this.#queue.length / 2) : LARGEST_BATCH
    while (this.#queue.length > 0 || done) {
      const batch = this.#queue.splice(0, Math.min(size, LARGEST_BATCH))
      size = LARGEST_BATCH
      const committing = batch.length > 0 ? this.#commit(batch) : null
      if (done) tell(done)
      done = committing && { batch, outcomes: await committing }
    }
    this.#busy = false
  }

  /** The outcomes in order, or the error that kept the whole batch from being written. */
  async #commit(batch: readonly Waiting[]): Promise<Outcomes> {
    try {
      return await this.#store.commit(batch.map(({ transition }) => transition))
    } catch (error) {
      // One transition the store cannot take must not take its neighbours with it: each is tried alone.
      if (batch.length === 1 || !isTriarchError(error, 'STORE_FAILED')) return error as Error
      const outcomes: (CommitOutcome | Error)[] = []
      for (const waiting of batch) {
        // It may have been written all the same. A record cannot be appended twice; a request without one could.
        const { events, create } = waiting.transition
        const again = events !== null || create !== null
        outcomes.push(...(again ? [await this.#commit([waiting])].flat() : [error as Error]))
      }
      return outcomes
    }
  }
}

type Outcomes = (CommitOutcome | Error)[] | Error
type Done = { batch: readonly Waiting[]; outcomes: Outcomes } | null

function tell({ batch, outcomes }: NonNullable<Done>): void {
  for (const [index, { done }] of batch.entries()) {
    const outcome = outcomes instanceof Error ? outcomes : outcomes[index]
    done(outcome ?? new TriarchError('INVARIANT', 'the store answered fewer outcomes than transitions'))
  }
}
