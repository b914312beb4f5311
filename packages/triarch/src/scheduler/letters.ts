import type { InboxMessage, StateStore } from '../store/port.ts'

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

  /**
   * Gives on what waits in the inbox: the oldest of all; or, while a task has too many, some of each task that has none at
   * hand. `give`: whether somebody took the letter. Tells whether to look again at once. One call at a time.
   */
  async deliver(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (letter: InboxMessage) => boolean,
  ): Promise<boolean> {
    return this.crowded ? this.#shares(store, node, give) : this.#oldest(store, node, give)
  }

  async #oldest(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (letter: InboxMessage) => boolean,
  ): Promise<boolean> {
    const held = new Map(this.#taken)
    const limit = LARGEST + held.size
    const { all, given } = await this.#read(() => store.inbox(node, limit, { held: [...held.keys()] }), give)
    const more = all.at(-1)?.more === true
    if (more) for (const key of hogs(all, held, limit)) this.#flooded.add(key)
    // The last one is told although it is at hand, and would be for ever.
    return this.crowded || (more && given > 0)
  }

  async #shares(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (letter: InboxMessage) => boolean,
  ): Promise<boolean> {
    const after = this.#after
    const busy = new Set(this.#taken.values())
    const each = { ...SHARE, after, skip: [...busy] }
    const { all, given } = await this.#read(() => store.inbox(node, LARGEST, { each }), give)
    const more = all.at(-1)?.more === true
    this.#after = more ? (all.at(-1)?.key ?? 0) : 0
    // One that was looked at and had nothing left is like any other again.
    if (!more && after === 0) {
      const found = new Set(all.map(({ key }) => key))
      for (const key of [...this.#flooded]) if (!busy.has(key) && !found.has(key)) this.#flooded.delete(key)
    }
    return after > 0 || !this.crowded || (more && given > 0)
  }

  /**
   * Gives on what the reading finds, without the letters let go meanwhile: it may have begun before they were consumed, and so
   * still show them. Those that do remain are found by the next. Nothing may happen between the end of the reading and the
   * giving, not even a turn of promises: a letter that is consumed then would be neither let go meanwhile nor at hand.
   */
  async #read(
    reading: () => Promise<InboxMessage[]>,
    give: (letter: InboxMessage) => boolean,
  ): Promise<{ all: readonly InboxMessage[]; given: number }> {
    const spent = new Set<number>()
    this.#spent = spent
    try {
      const all = await reading()
      let given = 0
      for (const letter of all) if (!spent.has(letter.id) && give(letter)) given++
      return { all, given }
    } finally {
      this.#spent = null
    }
  }
}

/**
 * Who keeps the others out of a reading: those with more than their share, or, where bytes do, the one with most letters. What was
 * held is in the reading up to its last one, though it is not told.
 */
function hogs(all: readonly InboxMessage[], held: ReadonlyMap<number, number>, limit: number): number[] {
  const last = all.at(-1)?.id ?? 0
  const keys = all.map(({ key }) => key)
  for (const [id, key] of held) if (id < last) keys.push(key)
  const counts = new Map<number, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return sorted
    .filter(([, count], index) => count > SHARE.limit || (index === 0 && keys.length < limit))
    .map(([key]) => key)
}
