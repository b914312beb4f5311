import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { isBlocked } from './blocked.ts'

/** Into how many parts a blocked batch is split, until each blocked entry is alone. */
const PARTS = 8
/** Parts that are tried at a time: each may occupy a connection for as long as the store waits for rows. */
const MAX_PARALLEL_PARTS = 2
/** The wait between two tries of a blocked entry (ms); it doubles each time. */
const FIRST_WAIT = 50
const LONGEST_WAIT = 2_000
/** How long a blocked entry is tried before it fails with the store's error (ms). */
const LIMIT = 30_000

export interface PendingEntry<T, O> {
  one: T
  done: (outcome: O | Error) => void
}

/** The outcomes in order, or the error that kept the whole batch from being written. */
export type Outcomes<O> = (O | Error)[] | Error

interface BatchPart<T, O> {
  batch: readonly PendingEntry<T, O>[]
  /** The next wait, and since when the part is tried. */
  wait: number
  since: number
}

/**
 * Retries entries that are blocked by rows which another transaction holds: a user's transaction that submitted the
 * same id, requested the same lock or comes after the same task. A blocked batch is split until each blocked entry is
 * alone; these are retried until the rows are free. The entries have no order to keep, because a task has one
 * transition at a time.
 */
export class BlockedRetry<T, O> {
  readonly #environment: Environment
  readonly #commit: (batch: readonly PendingEntry<T, O>[]) => Promise<Outcomes<O>>
  readonly #parts: BatchPart<T, O>[] = []
  /** Blocked parts that wait for their next try. */
  readonly #resting = new Set<{ part: BatchPart<T, O>; wake: () => void }>()
  #tried = 0

  constructor(environment: Environment, commit: (batch: readonly PendingEntry<T, O>[]) => Promise<Outcomes<O>>) {
    this.#environment = environment
    this.#commit = commit
  }

  /** Whether an entry is or may be blocked. */
  get busy(): boolean {
    return this.#tried + this.#parts.length + this.#resting.size > 0
  }

  /** Calls back with the outcome of each entry; retries those that are blocked. */
  tell(batch: readonly PendingEntry<T, O>[], outcomes: Outcomes<O>): void {
    if (isBlocked(outcomes)) return this.#take(batch, outcomes)
    for (let index = 0; index < batch.length; index++) {
      const waiting = batch[index] as PendingEntry<T, O>
      const outcome = outcomes instanceof Error ? outcomes : outcomes[index]
      if (isBlocked(outcome)) this.#take([waiting], outcome)
      else
        waiting.done(
          outcome ?? new TriarchError('INVARIANT', 'the store answered fewer outcomes than it was asked for'),
        )
    }
  }

  #take(batch: readonly PendingEntry<T, O>[], error: Error): void {
    const since = this.#environment.monotonic()
    if (batch.length === 1) this.#rest({ batch, wait: FIRST_WAIT, since }, error)
    else {
      const size = Math.ceil(batch.length / PARTS)
      for (let from = 0; from < batch.length; from += size)
        this.#parts.push({ batch: batch.slice(from, from + size), wait: FIRST_WAIT, since })
    }
    this.#next()
  }

  #next(): void {
    while (this.#tried < MAX_PARALLEL_PARTS) {
      const part = this.#parts.shift()
      if (!part) return
      this.#tried++
      void this.#try(part)
    }
  }

  async #try(part: BatchPart<T, O>): Promise<void> {
    const outcomes = await this.#commit(part.batch)
    this.#tried--
    if (!isBlocked(outcomes)) {
      this.tell(part.batch, outcomes)
      // The lock that blocked this part may have blocked the others.
      if (part.wait > FIRST_WAIT) for (const { wake } of [...this.#resting]) wake()
    } else if (part.batch.length > 1) this.#take(part.batch, outcomes)
    else this.#rest(part, outcomes)
    this.#next()
  }

  /** Waits before the next try. The wait is random so that two nodes that wait for each other's rows do not collide again. */
  #rest({ batch, wait, since }: BatchPart<T, O>, error: Error): void {
    if (this.#environment.monotonic() - since >= LIMIT) {
      for (const { done } of batch) done(error)
      return
    }
    const wake = () => {
      timer.cancel()
      if (!this.#resting.delete(resting)) return
      this.#parts.push(resting.part)
      this.#next()
    }
    const resting = { part: { batch, wait: Math.min(wait * 2, LONGEST_WAIT), since }, wake }
    const timer = this.#environment.timer(wait / 2 + (wait / 2) * this.#environment.random(), wake)
    this.#resting.add(resting)
  }
}
