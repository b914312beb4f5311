import type { InboxMessage, StateStore } from '../store/port.ts'

/** Most messages in one read, besides those already in memory. */
const LARGEST = 500
/** Most messages read of each task at a time while some task has more than one read shows. */
const SHARE = { limit: 200, bytes: 1024 * 1024 }

/** Keeps track of which inbox messages are being processed, so that each is processed once however often the inbox shows it. */
export class InboxTracker {
  /** Messages that a runner has taken and that no durable transition has consumed yet, with the keys of their tasks. */
  readonly #taken = new Map<number, number>()
  /** Messages dropped since the current read of the inbox began; null: no read is under way. */
  #spent: Set<number> | null = null
  /** Keys of tasks with more messages than one read shows. While there are any, each task is read up to its share. */
  readonly #flooded = new Set<number>()
  /** The last task key of the previous read by shares. */
  #after = 0

  get size(): number {
    return this.#taken.size
  }

  /** More messages wait than were read, so the inbox must be read again once some are consumed. */
  get crowded(): boolean {
    return this.#flooded.size > 0
  }

  /** The task has more messages than came with its claim. */
  flooded(key: number): void {
    this.#flooded.add(key)
  }

  /** Returns false if the message is already taken. */
  take(id: number, key: number): boolean {
    if (this.#taken.has(id)) return false
    this.#taken.set(id, key)
    return true
  }

  /** The message was consumed, or no runner here processes it any more. */
  drop(id: number): void {
    this.#taken.delete(id)
    this.#spent?.add(id)
  }

  /**
   * Delivers messages from the inbox: the oldest of all; or, while some task has too many, a share of each task that has none in memory.
   * `give` returns whether a runner took the message. Resolves to whether to read again at once. Calls must not overlap.
   */
  async deliver(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (message: InboxMessage) => boolean,
  ): Promise<boolean> {
    return this.crowded ? this.#shares(store, node, give) : this.#oldest(store, node, give)
  }

  async #oldest(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (message: InboxMessage) => boolean,
  ): Promise<boolean> {
    const held = new Map(this.#taken)
    const limit = LARGEST + held.size
    const { all, given } = await this.#read(() => store.inbox(node, limit, { held: [...held.keys()] }), give)
    const more = all.at(-1)?.more === true
    if (more) for (const key of hogs(all, held, limit)) this.#flooded.add(key)
    // `more` alone is not enough: the read includes its last message even if that is already taken, so it could repeat for ever.
    return this.crowded || (more && given > 0)
  }

  async #shares(
    store: Pick<StateStore, 'inbox'>,
    node: string,
    give: (message: InboxMessage) => boolean,
  ): Promise<boolean> {
    const after = this.#after
    const busy = new Set(this.#taken.values())
    const each = { ...SHARE, after, skip: [...busy] }
    const { all, given } = await this.#read(() => store.inbox(node, LARGEST, { each }), give)
    const more = all.at(-1)?.more === true
    this.#after = more ? (all.at(-1)?.key ?? 0) : 0
    // A complete round found no more messages of the task, so it no longer needs shares.
    if (!more && after === 0) {
      const found = new Set(all.map(({ key }) => key))
      for (const key of [...this.#flooded]) if (!busy.has(key) && !found.has(key)) this.#flooded.delete(key)
    }
    return after > 0 || !this.crowded || (more && given > 0)
  }

  /**
   * Delivers what the read finds, except messages dropped meanwhile: the read may have begun before they were consumed and so still show
   * them. Any that do remain are found by the next read. The read and the delivery must not be separated by even a turn of promises: a
   * message consumed in between would be neither dropped during the read nor still taken.
   */
  async #read(
    reading: () => Promise<InboxMessage[]>,
    give: (message: InboxMessage) => boolean,
  ): Promise<{ all: readonly InboxMessage[]; given: number }> {
    const spent = new Set<number>()
    this.#spent = spent
    try {
      const all = await reading()
      let given = 0
      for (const message of all) if (!spent.has(message.id) && give(message)) given++
      return { all, given }
    } finally {
      this.#spent = null
    }
  }
}

/**
 * The tasks that crowd others out of a read: those with more than their share; or, if bytes were the limit, the one with the most
 * messages. Held messages up to the last one read count too, though the store does not send them again.
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
