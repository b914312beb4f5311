import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { BlockedRetry, type Outcomes, type PendingEntry } from './blocked-retry.ts'

/** Most entries in one database transaction: bounds how long others wait for the write lock. */
const LARGEST_BATCH = 500
/** Most bytes in one transaction; a single entry may be larger. */
const LARGEST_BYTES = 16 * 1024 * 1024
/**
 * From this many entries on, a batch is split in two that are written one after the other, so that the tasks of one
 * half go on while the other is written. Smaller batches are not written in parallel.
 */
const SPLIT_FROM = 96
/** While an entry is blocked: how long the next batch waits for those in flight (ms), and how many of these may be left behind. */
const PATIENCE = 25
const LEFT_BEHIND = 2

/** How entries are written in groups. */
export interface GroupWriter<T, O> {
  /**
   * Writes the batch in one database transaction; returns the outcomes in order. Throws if nothing of it was written,
   * or if that is not known.
   */
  write(batch: readonly T[]): Promise<O[]>
  bytes(one: T): number
  /** Whether it may be written again although it may have been written already. */
  isRepeatable(one: T): boolean
  /** How many batches the store writes side by side. */
  atOnce: number
}

/**
 * Group commit: entries that arrive while a batch is in flight, or in the same iteration of the event loop, share the
 * next batch and its one flush to disk. Entries have no order among each other. Entries blocked by rows that a user's
 * transaction holds are retried separately (`BlockedRetry`), so that others do not wait for them.
 * Source: D. DeWitt et al., "Implementation techniques for main memory database systems", SIGMOD 1984, section 5.2.
 */
export class GroupCommit<T, O> {
  readonly #environment: Environment
  readonly #writing: GroupWriter<T, O>
  readonly #blockedRetry: BlockedRetry<T, O>
  #queue: PendingEntry<T, O>[] = []
  /** Whether the next iteration of the event loop begins a batch. */
  #soon = false
  #inFlight = 0
  /** Batches in flight that the next batch does not wait for. */
  #behind = 0

  constructor(environment: Environment, writing: GroupWriter<T, O>) {
    this.#environment = environment
    this.#writing = writing
    this.#blockedRetry = new BlockedRetry(environment, (batch) => this.#write(batch))
  }

  /** Adds an entry; calls back with its outcome, or with the error that kept the whole batch from being written. */
  add(one: T, done: (outcome: O | Error) => void): void {
    this.#queue.push({ one, done })
    if (this.#soon || this.#isFull) return
    this.#soon = true
    this.#environment.soon(() => {
      this.#soon = false
      // Tasks that are written together continue together and commit together again. If all were in one batch, they and
      // the store would only take turns.
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

  async #send(batch: readonly PendingEntry<T, O>[]): Promise<void> {
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
    // The previous batch's outcomes are handled first. If they show that an entry is blocked, this batch may be blocked
    // as well, and take long.
    await null
    const timer = this.#blockedRetry.busy ? this.#environment.timer(PATIENCE, late) : null
    const outcomes = await writing
    timer?.cancel()
    if (isBehind) this.#behind--
    else this.#inFlight--
    // The next batch is sent before the outcomes are reported, so that a store with a thread of its own never idles.
    this.#flush()
    this.#blockedRetry.tell(batch, outcomes)
  }

  #next(size: number): PendingEntry<T, O>[] {
    return takeFitting(this.#queue, ({ one }) => this.#writing.bytes(one), size)
  }

  /** Returns the outcomes in order, or the error that kept the whole batch from being written. */
  async #write(batch: readonly PendingEntry<T, O>[]): Promise<Outcomes<O>> {
    try {
      return await this.#writing.write(batch.map(({ one }) => one))
    } catch (error) {
      // An entry that the store rejects must not fail the others of its batch: each is tried alone.
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

/** Takes as many entries as one transaction may have, from the first on: bounded by number and by bytes, but at least one. */
export function takeFitting<T>(queue: T[], bytesOf: (one: T) => number, most: number = LARGEST_BATCH): T[] {
  let bytes = 0
  const end = queue.findIndex((one, index) => {
    bytes += bytesOf(one)
    return index > 0 && (index >= most || bytes > LARGEST_BYTES)
  })
  return queue.splice(0, end < 0 ? queue.length : end)
}

/**
 * The error for an entry that cannot be repeated: the store rejected a batch, and whether this entry was written or
 * caused the error is not known.
 */
function unanswered(cause: Error): TriarchError {
  return new TriarchError('STORE_UNANSWERED', cause.message, { cause })
}
