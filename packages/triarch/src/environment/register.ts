/** Emptied when it leaves the register. */
interface Place<V> {
  taken: V | undefined
}

/**
 * A map for what comes and goes by the thousand. V8 makes a `Map` or `Set` a new table whenever so many have come, and lets the old one point to the
 * new: once a table has grown old, those after it, and all that was in any of them, stay until the next full collection, and each young one copies
 * them. Half of what the collector copied for a task was this. What leaves a register leaves nothing behind but its key.
 * Source: `OrderedHashTable::Rehash` (`SetNextTable`), https://github.com/v8/v8/blob/main/src/objects/ordered-hash-table.cc
 */
export class Register<K, V> implements Iterable<[K, V]> {
  readonly #places = new Map<K, Place<V>>()

  get size(): number {
    return this.#places.size
  }

  has(key: K): boolean {
    return this.#places.has(key)
  }

  get(key: K): V | undefined {
    return this.#places.get(key)?.taken
  }

  set(key: K, value: V): void {
    const place = this.#places.get(key)
    if (place) place.taken = value
    else this.#places.set(key, { taken: value })
  }

  delete(key: K): boolean {
    const place = this.#places.get(key)
    if (!place) return false
    place.taken = undefined
    return this.#places.delete(key)
  }

  keys(): IterableIterator<K> {
    return this.#places.keys()
  }

  /** In the order in which they came. */
  *values(): IterableIterator<V> {
    for (const { taken } of this.#places.values()) yield taken as V
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { taken }] of this.#places) yield [key, taken as V]
  }
}
