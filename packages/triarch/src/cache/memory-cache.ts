/** An answer in the memory of a process. */
export interface MemoryAnswer {
  /** JSON text, because each caller gets a copy of its own. */
  readonly value: string
  /** The generation of invalidations known when the answer was requested, and the names by which it can be invalidated. */
  readonly seen: number
  readonly names: readonly string[]
  /** When the answer was stored, until when it is fresh, and until when it can be used at all (monotonic clock, ms). */
  readonly at: number
  readonly fresh: number
  readonly until: number
}

/** Memory of an answer besides its text (bytes, approximate). */
const OVERHEAD = 400

/** A process's own answers: the most recently used, up to a number and a size. */
export class MemoryCache {
  readonly #answers = new Map<string, MemoryAnswer>()
  readonly #most: { readonly entries: number; readonly bytes: number }
  #bytes = 0

  constructor(most: { entries: number; bytes: number }) {
    this.#most = most
  }

  get size(): number {
    return this.#answers.size
  }

  get(key: string): MemoryAnswer | undefined {
    const found = this.#answers.get(key)
    if (!found) return undefined
    // Moves the answer to the end, as the most recently used.
    this.#answers.delete(key)
    this.#answers.set(key, found)
    return found
  }

  set(key: string, answer: MemoryAnswer): void {
    this.delete(key)
    const bytes = sizeOf(answer)
    if (bytes > this.#most.bytes || this.#most.entries === 0) return
    this.#answers.set(key, answer)
    this.#bytes += bytes
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#most.entries && this.#bytes <= this.#most.bytes) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const found = this.#answers.get(key)
    if (!found) return
    this.#answers.delete(key)
    this.#bytes -= sizeOf(found)
  }
}

function sizeOf({ value }: MemoryAnswer): number {
  return 2 * value.length + OVERHEAD
}
