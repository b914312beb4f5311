import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { BlockedRetry, type Outcomes, type Waiting } from './blocked-retry.ts'

/** Most in one database transaction: bounds how long others wait for the write lock. */
const LARGEST_BATCH = 500
/** Most bytes in one; a single entry may have more. */
const LARGEST_BYTES = 16 * 1024 * 1024
/** From this many on, a crowd is parted: half of it is written while the other half goes on. Fewer do not go side by side. */
const SPLIT_FROM = 96
/** While something is blocked: how long the next batch waits for those in flight (ms), and how many may be left behind. */
const PATIENCE = 25
const LEFT_BEHIND = 2

/** What is written in groups, and how. */
export interface Writing<T, O> {
  /** One database transaction; the outcomes in order. Throws when nothing of it was written, or nothing is known. */
  write(batch: readonly T[]): Promise<O[]>
  bytes(one: T): number
  /** It may be written once more, though it may have been written already. */
  isRepeatable(one: T): boolean
  /** How many batches the store writes side by side. */
  atOnce: number
}

/**
 * Group commit: what comes while a batch is in flight, or in the same round of the event loop, shares the next one, and so
 * its one flush to disk. Entries have no order among each other. What rows block that a user's transaction holds goes by a
 * detour, so that others do not wait for it.
 * Source: D. DeWitt et al., "Implementation techniques for main memory database systems", SIGMOD 1984, section 5.2.
 */
export class GroupCommit<T, O> {
  readonly #environment: Environment
  readonly #writing: Writing<T, O>
  readonly #blockedRetry: BlockedRetry<T, O>
  #queue: Waiting<T, O>[] = []
  /** The next round of the event loop begins a batch. */
  #soon = false
  #inFlight = 0
  /** Batches that nobody waits for. */
  #behind = 0

  constructor(environment: Environment, writing: Writing<T, O>) {
    this.#environment = environment
    this.#writing = writing
    this.#blockedRetry = new BlockedRetry(environment, (batch) => this.#write(batch))
  }

  /** Calls back with its own outcome, or with the error that kept the whole batch from being written. */
  add(one: T, done: (outcome: O | Error) => void): void {
    this.#queue.push({ one, done })
    if (this.#soon || this.#isFull) return
    this.#soon = true
    this.#environment.soon(() => {
      this.#soon = false
      // Those written together go on together and come back together. All at once, they and the store would take turns.
      const parts = this.#inFlight === 0 && this.#queue.length >= SPLIT_FROM ? 2 : 1
      this.#flush(Math.ceil(this.#queue.length / parts))
    })
  }

  get #isFull(): boolean {
    return this.#inFlight >= this.#writing.atOnce
  }

  #flush(size = LARGEST_BATCH): void {
    while (this.#queue.length > 0 && !this.#isFull) {
      if (this.#inFlight > 0 && this.#queue.length < SPLIT_FROM) return
      void this.#send(this.#next(Math.min(size, LARGEST_BATCH)))
    }
  }

  async #send(batch: readonly Waiting<T, O>[]): Promise<void> {
    this.#inFlight++
    let isBehind = false
    const late = () => {
      if (this.#behind >= LEFT_BEHIND) return
      isBehind = true
      this.#behind++
      this.#inFlight--
      this.#flush()
    }
    const writing = this.#write(batch)
    // The outcomes before these are told first. Where they show that something is blocked, this may be too, and take long.
    await null
    const timer = this.#blockedRetry.busy ? this.#environment.timer(PATIENCE, late) : null
    const outcomes = await writing
    timer?.cancel()
    if (isBehind) this.#behind--
    else this.#inFlight--
    // The next is on its way before the outcomes are told: a store with a thread of its own never waits.
    this.#flush()
    this.#blockedRetry.tell(batch, outcomes)
  }

  #next(size: number): Waiting<T, O>[] {
    return takeFitting(this.#queue, ({ one }) => this.#writing.bytes(one), size)
  }

  /** The outcomes in order, or the error that kept the whole batch from being written. */
  async #write(batch: readonly Waiting<T, O>[]): Promise<Outcomes<O>> {
    try {
      return await this.#writing.write(batch.map(({ one }) => one))
    } catch (error) {
      // One that the store cannot take must not take its neighbours with it: each is tried alone.
      if (batch.length === 1 || (isTriarchError(error) && error.code !== 'STORE_FAILED')) return error as Error
      const outcomes: (O | Error)[] = []
      for (const waiting of batch) {
        const again = this.#writing.isRepeatable(waiting.one)
        outcomes.push(...(again ? [await this.#write([waiting])].flat() : [unanswered(error as Error)]))
      }
      return outcomes
    }
  }
}

/** Takes as many of them as one transaction may have, from the first on: by their number and by their bytes, and one at least. */
export function takeFitting<T>(queue: T[], bytesOf: (one: T) => number, most: number = LARGEST_BATCH): T[] {
  let bytes = 0
  const end = queue.findIndex((one, index) => {
    bytes += bytesOf(one)
    return index > 0 && (index >= most || bytes > LARGEST_BYTES)
  })
  return queue.splice(0, end < 0 ? queue.length : end)
}

/** What the store refused was several at once: of one of them nothing is known, least of all that it is to blame. */
function unanswered(cause: Error): TriarchError {
  return new TriarchError('STORE_UNANSWERED', cause.message, { cause })
}
