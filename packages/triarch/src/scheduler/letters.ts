import type { Letter, StateStore } from '../store/port.ts'

/** Letters in one reading, besides those that are at hand already. */
const LARGEST = 500
/** What a task that has more than others gets at a time, once some has. */
const SHARE = { limit: 200, bytes: 1024 * 1024 }

/** Which letters of the inbox are being dealt with, so that each is dealt with once however often the inbox shows it. */
export class Letters {
  /** Taken by a runner, and not consumed yet by a durable transition; with the keys of their tasks. */
  readonly #taken = new Map<number, number>()
  /** Let go since the reading of the inbox began that is under way; null: none is. */
  #spent: Set<number> | null = null
  /** Tasks with more letters than one reading shows. While there are any, each task gets its share. */
  readonly #flooded = new Set<number>()
  /** The key with which the last reading of shares ended. */
  #after = 0

  get size(): number {
    return this.#taken.size
  }

  /** More wait than were read: once some are consumed, there is something to read. */
  get crowded(): boolean {
    return this.#flooded.size > 0
  }

  /** Not all letters of the task came with its claim. */
  flooded(key: number): void {
    this.#flooded.add(key)
  }

  /** False: somebody has it already. */
  take(letter: number, key: number): boolean {
    if (this.#taken.has(letter)) return false
    this.#taken.set(letter, key)
    return true
  }

  /** It is consumed, or nobody here deals with it any more. */
  drop(letter: number): void {
    this.#taken.delete(letter)
    this.#spent?.add(letter)
  }

  /** The oldest of all; or, while a task has too many, some of each task that has none at hand. `again`: look at once. */
  async fetch(store: StateStore, node: string): Promise<{ letters: Letter[]; more: boolean; again: boolean }> {
    return this.crowded ? this.#shares(store, node) : this.#oldest(store, node)
  }

  async #oldest(store: StateStore, node: string): Promise<{ letters: Letter[]; more: boolean; again: boolean }> {
    const limit = LARGEST + this.#taken.size
    let all: Letter[] = []
    const letters = await this.read(async () => {
      all = await store.inbox(node, limit)
      return all
    })
    const more = all.at(-1)?.more === true
    if (more) for (const key of hogs(all, limit)) this.#flooded.add(key)
    return { letters, more, again: this.crowded }
  }

  async #shares(store: StateStore, node: string): Promise<{ letters: Letter[]; more: boolean; again: boolean }> {
    const after = this.#after
    const busy = new Set(this.#taken.values())
    const found = new Set<number>()
    let more = false
    const letters = await this.read(async () => {
      const all = await store.inbox(node, LARGEST, { each: { ...SHARE, after, skip: [...busy] } })
      for (const { key } of all) found.add(key)
      more = all.at(-1)?.more === true
      this.#after = more ? (all.at(-1)?.key ?? 0) : 0
      return all
    })
    // One that was looked at and had nothing left is like any other again.
    if (!more && after === 0)
      for (const key of [...this.#flooded]) if (!busy.has(key) && !found.has(key)) this.#flooded.delete(key)
    return { letters, more, again: after > 0 || !this.crowded }
  }

  /**
   * What the reading finds, without the letters let go meanwhile: it may have begun before they were consumed, and so
   * still show them. Those that do remain are found by the next. One reading at a time.
   */
  async read(reading: () => Promise<Letter[]>): Promise<Letter[]> {
    const spent = new Set<number>()
    this.#spent = spent
    try {
      const letters = await reading()
      return letters.filter(({ id }) => !spent.has(id))
    } finally {
      this.#spent = null
    }
  }
}

/** Who keeps the others out of a reading: those with more than their share, or, where bytes do, the one with most letters. */
function hogs(all: readonly Letter[], limit: number): number[] {
  const counts = new Map<number, number>()
  for (const { key } of all) counts.set(key, (counts.get(key) ?? 0) + 1)
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return sorted
    .filter(([, count], index) => count > SHARE.limit || (index === 0 && all.length < limit))
    .map(([key]) => key)
}
