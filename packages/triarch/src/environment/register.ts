/** An entry, which is emptied when it is removed. */
interface RegisterEntry<V> {
  taken: V | undefined
}

/**
 * A map for entries that come and go by the thousand. V8 replaces the table of a `Map` or `Set` after enough insertions, and the old table
 * points to the new one: once a table is in the old generation, all later tables and their contents survive until the next full collection,
 * and each minor collection copies them. This was half of what the collector copied for a task. An entry that is removed from a register
 * leaves only its key in these tables. Source: `OrderedHashTable::Rehash` (`SetNextTable`),
 * https://github.com/v8/v8/blob/main/src/objects/ordered-hash-table.cc
 */
export class Register<K, V> implements Iterable<[K, V]> {
  readonly #places = new Map<K, RegisterEntry<V>>()

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

  /** The values in order of insertion. */
  *values(): IterableIterator<V> {
    for (const { taken } of this.#places.values()) yield taken as V
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { taken }] of this.#places) yield [key, taken as V]
  }
}
