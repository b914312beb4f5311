/** An answer as a process remembers it. */
export interface CachedAnswer {
  /** As JSON: each who is given it gets a copy. */
  readonly value: string
  /** The generation of invalidations that whoever asked for it knew, and the names that it can be invalidated by. */
  readonly seen: number
  readonly names: readonly string[]
  /** When it was kept, until when it is fresh, and until when it is of any use (ms of the monotonic clock). */
  readonly at: number
  readonly fresh: number
  readonly until: number
}

/** What an answer needs besides its text (bytes, about). */
const OVERHEAD = 400

/** A process's own answers: those that were used last, up to a number and a size. */
export class MemoryCache {
  readonly #answers = new Map<string, CachedAnswer>()
  readonly #most: { readonly entries: number; readonly bytes: number }
  #bytes = 0

  constructor(most: { entries: number; bytes: number }) {
    this.#most = most
  }

  get size(): number {
    return this.#answers.size
  }

  get(key: string): CachedAnswer | undefined {
    const found = this.#answers.get(key)
    if (!found) return undefined
    // It is the one used last now.
    this.#answers.delete(key)
    this.#answers.set(key, found)
    return found
  }

  set(key: string, answer: CachedAnswer): void {
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

function sizeOf({ value }: CachedAnswer): number {
  return 2 * value.length + OVERHEAD
}
