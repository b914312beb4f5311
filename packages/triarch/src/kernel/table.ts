/** A table with one entry, the usual case because a task mostly runs one step after the other. */
class Lone<K, V> implements Iterable<[K, V]> {
  readonly size = 1
  readonly key: K
  value: V

  constructor(key: K, value: V) {
    this.key = key
    this.value = value
  }

  get(key: K): V | undefined {
    return key === this.key ? this.value : undefined
  }

  has(key: K): boolean {
    return key === this.key
  }

  keys(): Iterable<K> {
    return [this.key]
  }

  values(): Iterable<V> {
    return [this.value]
  }

  [Symbol.iterator](): Iterator<[K, V]> {
    return [[this.key, this.value] as [K, V]].values()
  }
}

/**
 * A map that costs almost nothing while it is empty, and little with one entry. A task has a dozen of them and uses two. An empty `Map`
 * takes 200 bytes, which the garbage collector copies for each task in flight, and again whenever its last entry is deleted.
 */
export class Table<K, V> implements Iterable<[K, V]> {
  /**
   * Public, and its form depends on the number of entries alone, so that two tables compare as equal exactly if their entries are equal.
   */
  entered: Lone<K, V> | Map<K, V> | null = null

  get size(): number {
    return this.entered?.size ?? 0
  }

  get(key: K): V | undefined {
    return this.entered?.get(key)
  }

  has(key: K): boolean {
    return this.entered?.has(key) ?? false
  }

  set(key: K, value: V): void {
    const { entered } = this
    if (entered === null) this.entered = new Lone(key, value)
    else if (entered instanceof Map) entered.set(key, value)
    else if (entered.key === key) entered.value = value
    else this.entered = new Map(entered).set(key, value)
  }

  delete(key: K): boolean {
    const { entered } = this
    if (!entered?.has(key)) return false
    if (entered instanceof Map) {
      entered.delete(key)
      if (entered.size === 1) for (const [only, value] of entered) this.entered = new Lone(only, value)
    } else this.entered = null // the same state as a table that never had an entry
    return true
  }

  clear(): void {
    if (this.entered instanceof Map) this.entered.clear() // ends iterations that are under way
    this.entered = null
  }

  keys(): Iterable<K> {
    return this.entered?.keys() ?? nothing
  }

  values(): Iterable<V> {
    return this.entered?.values() ?? nothing
  }

  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.entered ?? nothing)[Symbol.iterator]()
  }
}

const nothing: readonly never[] = []
