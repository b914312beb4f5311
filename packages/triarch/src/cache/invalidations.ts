import type { Environment } from '../environment/environment.ts'
import type { StateStore } from '../store/port.ts'

/** How long a read of the invalidations is valid (ms); `invalidate` waits at least as long. */
export const INVALIDATIONS_FRESH_MS = 250
/** Most names remembered. Beyond that, all answers requested earlier are treated as invalid. */
const MOST = 20_000

/**
 * The invalidations that this process knows. They are read when an answer is about to be given and the last read is too old. Nothing is
 * notified, so a lost notification can do no harm.
 */
export class InvalidationReader {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #store: Pick<StateStore, 'invalidated'>
  readonly #marks = new Map<string, number>()
  #readAt = Number.NEGATIVE_INFINITY
  #last = 0
  #floor = 0
  #reading: Promise<void> | null = null

  constructor(environment: Pick<Environment, 'monotonic'>, store: Pick<StateStore, 'invalidated'>) {
    this.#environment = environment
    this.#store = store
  }

  /** The last known generation. */
  get generation(): number {
    return this.#last
  }

  /** Whether all invalidations up to a moment ago are known. */
  get sure(): boolean {
    return this.#environment.monotonic() - this.#readAt < INVALIDATIONS_FRESH_MS
  }

  /** Reads until `sure`. Rejects if the store does not answer. */
  async read(): Promise<void> {
    while (!this.sure) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null
      })
      await this.#reading
    }
  }

  /** Whether the answer was not invalidated since it was requested. */
  holds({ seen, names }: { seen: number; names: readonly string[] }): boolean {
    return seen >= this.#floor && seen <= this.#last && names.every((name) => (this.#marks.get(name) ?? 0) <= seen)
  }

  async #read(): Promise<void> {
    const asked = this.#environment.monotonic()
    const { last, floor, marks } = await this.#store.invalidated(this.#last)
    // The store went back, and may have forgotten invalidations; all earlier answers are treated as invalid.
    if (last < this.#last) {
      this.#floor = Number.POSITIVE_INFINITY
      this.#marks.clear()
    }
    this.#last = last
    this.#floor = this.#floor === Number.POSITIVE_INFINITY ? last : Math.max(this.#floor, floor)
    for (const { name, generation } of marks) this.#marks.set(name, generation)
    if (this.#marks.size > MOST) {
      this.#marks.clear()
      this.#floor = last
    }
    this.#readAt = asked
  }
}
