import type { Environment } from '../environment/environment.ts'
import type { StateStore } from '../store/port.ts'

/** So long a reading of what was invalidated is good (ms): `invalidate` waits for that. */
export const INVALIDATIONS_FRESH_MS = 250
/** Names that a process remembers; beyond, what was asked for before is not valid. */
const MOST = 20_000

/**
 * What has been invalidated, as this process knows it: it reads on when an answer is about to be given and the last reading is older
 * than a moment. Nobody who gives answers is told of anything, so nothing that is not heard does harm.
 */
export class Invalidations {
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

  /** The last generation that it knows. */
  get generation(): number {
    return this.#last
  }

  /** Whether it knows all that was invalidated up to a moment ago. */
  get sure(): boolean {
    return this.#environment.monotonic() - this.#readAt < INVALIDATIONS_FRESH_MS
  }

  /** Makes sure. Rejects when the store does not say. */
  async read(): Promise<void> {
    while (!this.sure) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null
      })
      await this.#reading
    }
  }

  /** Nobody has invalidated it since it was asked for. */
  holds({ seen, names }: { seen: number; names: readonly string[] }): boolean {
    return seen >= this.#floor && seen <= this.#last && names.every((name) => (this.#marks.get(name) ?? 0) <= seen)
  }

  async #read(): Promise<void> {
    const asked = this.#environment.monotonic()
    const { last, floor, marks } = await this.#store.invalidated(this.#last)
    // The store went back: nobody knows what it has forgotten.
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
