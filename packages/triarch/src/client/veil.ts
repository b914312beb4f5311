import type { BackgroundWork, WorkShare } from '../environment/background-work.ts'
import type { TriarchError } from '../error/error.ts'
import { Redaction } from '../kernel/redaction.ts'
import { eventsOf, isLast, isUnreadable, RangeReader } from '../scheduler/history.ts'
import type { HistoryRecord, StateStore, TaskRow } from '../store/port.ts'
import { RecordReader } from '../store/reader.ts'

/** Limits of one store call; short, because a store in this thread blocks everything else meanwhile. */
const PAGE = { records: 500, bytes: 512 * 1024 }
/** Most tasks for which a veil is kept, and characters of their secrets. */
const KEPT = { tasks: 1_000, characters: 16 * 1024 * 1024 }

/** What the whole history of a task, with all its runs, marks as secret. */
export interface Veil {
  readonly redaction: Redaction
  /** A record could not be read, so there may be unknown secrets. HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*. */
  readonly broken: TriarchError | null
}

/**
 * The secrets of histories being viewed. A page can be shown only after the whole history was read, because what is marked as secret
 * later is hidden from the beginning. Veils are kept and read on from the last record, so a page costs only its own records and the new
 * ones.
 */
export class Veils {
  readonly #store: StateStore
  readonly #background: BackgroundWork
  /** By the task's key, the most recently used last. */
  readonly #kept = new Map<number, GrowingVeil>()
  /** By the task's key: the read under way, and the read to follow it. */
  readonly #under = new Map<number, { now: Promise<Veil>; next: Promise<Veil> | null }>()

  constructor(store: StateStore, leisure: BackgroundWork) {
    this.#store = store
    this.#background = leisure
  }

  /** Throws STORE_*. */
  of(row: Pick<TaskRow, 'id' | 'key'>): Promise<Veil> {
    const under = this.#under.get(row.key)
    if (!under) return this.#begin(row)
    // The read under way may have begun too early for this call; one more read serves all calls made meanwhile.
    const next = () => this.#begin(row)
    under.next ??= under.now.then(next, next)
    return under.next
  }

  #begin(row: Pick<TaskRow, 'id' | 'key'>): Promise<Veil> {
    const now = this.#read(row).finally(() => {
      if (this.#under.get(row.key)?.now === now) this.#under.delete(row.key)
    })
    this.#under.set(row.key, { now, next: null })
    return now
  }

  async #read(row: Pick<TaskRow, 'id' | 'key'>): Promise<Veil> {
    const kept = this.#kept.get(row.key)
    if (kept?.last) {
      const page = await this.#store.records(row.id, kept.last.seq - 1, PAGE)
      if (isSame(page[0], kept.last)) {
        const reader = new RangeReader(this.#store, row.id)
        await this.#grow(
          row.id,
          kept,
          { page, known: 1 },
          { read: (one) => reader.events(one), pace: this.#background.pace() },
        )
        return this.#keep(row.key, kept)
      }
    }
    const veil = new GrowingVeil()
    const page = await this.#store.records(row.id, 0, PAGE)
    const reader = new RecordReader()
    const read = (record: HistoryRecord) => eventsOf(record, reader)
    const grow = (pace: WorkShare) => this.#grow(row.id, veil, { page, known: 0 }, { read, pace })
    // Most histories are short; they do not wait for a long one.
    await (isLast(page, PAGE) ? grow(this.#background.pace()) : this.#background.run(grow))
    return this.#keep(row.key, veil)
  }

  async #grow(
    id: string,
    veil: GrowingVeil,
    { page, known }: { page: readonly HistoryRecord[]; known: number },
    { read, pace }: { read: (record: HistoryRecord) => Events | Promise<Events>; pace: WorkShare },
  ): Promise<void> {
    for (const [index, record] of page.entries()) {
      if (index < known) continue
      await veil.add(record, read)
      const rest = pace.show()
      if (rest !== null) await rest
    }
    if (isLast(page, PAGE) || veil.last === null) return
    const next = await this.#store.records(id, veil.last.seq, PAGE)
    return this.#grow(id, veil, { page: next, known: 0 }, { read, pace })
  }

  #keep(key: number, veil: GrowingVeil): Veil {
    this.#kept.delete(key)
    if (veil.broken || veil.size > KEPT.characters) return veil
    this.#kept.set(key, veil)
    let size = 0
    for (const { size: one } of this.#kept.values()) size += one
    for (const [oldest, { size: one }] of this.#kept) {
      if (this.#kept.size <= KEPT.tasks && size <= KEPT.characters) break
      size -= one
      this.#kept.delete(oldest)
    }
    return veil
  }
}

/** Whether the record is unchanged; then everything read before it is still what the store has. */
export function isSame(found: HistoryRecord | undefined, known: Pick<HistoryRecord, 'seq' | 'at' | 'events'>): boolean {
  return found?.seq === known.seq && found.at === known.at && found.events === known.events
}

type Events = ReturnType<typeof eventsOf>

class GrowingVeil implements Veil {
  readonly redaction = new Redaction()
  broken: TriarchError | null = null
  /** The last record as the store returned it. */
  last: Pick<HistoryRecord, 'seq' | 'at' | 'events'> | null = null
  #texts = 0
  #size = 0

  async add(record: HistoryRecord, read: (record: HistoryRecord) => Events | Promise<Events>): Promise<void> {
    const { seq, at, events } = record
    this.last = { seq, at, events }
    try {
      for (const event of await read(record)) this.redaction.add(event)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.broken ??= error
    }
  }

  /** Characters of what is kept. */
  get size(): number {
    const { texts } = this.redaction
    if (texts.size !== this.#texts) {
      this.#size = [...texts].reduce((sum, { length }) => sum + length, 0)
      this.#texts = texts.size
    }
    return this.#size + (this.last?.events.length ?? 0)
  }
}
