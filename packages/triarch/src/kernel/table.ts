/**
 * A map that costs next to nothing while nothing was put into it. A task has a dozen of them and uses two; an empty `Map` takes
 * 200 bytes, which the garbage collector copies for each task in flight.
 */
export class Table<K, V> implements Iterable<[K, V]> {
  /** Not private, so that two tables are only equal where their entries are. */
  entered: Map<K, V> | null = null

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
    this.entered ??= new Map()
    this.entered.set(key, value)
  }

  delete(key: K): boolean {
    const known = this.entered?.delete(key) ?? false
    if (this.entered?.size === 0) this.entered = null // as if nothing had ever been entered
    return known
  }

  clear(): void {
    this.entered?.clear() // who walks through it is at its end
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
