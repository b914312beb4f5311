/** A binary heap, ordered by `before`. */
export class Heap<T> {
  readonly #entries: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get first(): T | undefined {
    return this.#entries[0]
  }

  add(entry: T): void {
    const entries = this.#entries
    let at = entries.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = entries[above]
      if (parent === undefined || !this.#before(entry, parent)) break
      entries[at] = parent
      at = above
    }
    entries[at] = entry
  }

  /** Removes and returns the first entry. */
  take(): T | undefined {
    const entries = this.#entries
    const taken = entries[0]
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return taken
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      let child = entries[below]
      const right = entries[below + 1]
      if (child !== undefined && right !== undefined && this.#before(right, child)) {
        below++
        child = right
      }
      if (child === undefined || !this.#before(child, last)) break
      entries[at] = child
      at = below
    }
    entries[at] = last
    return taken
  }
}
