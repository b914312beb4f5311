import type { TaskEvent } from '../kernel/event.ts'
import type { ValueLocation } from './output.ts'
import { type PayloadReference, readRecord, SMALLEST_REFERRED } from './record.ts'

/** Reads the records of one history, in order, because a record may refer to values in those before it. */
export class RecordReader {
  readonly #before = new Map<number, readonly TaskEvent[]>()
  /** The characters of the text, and the references, of each of those records. */
  readonly #written = new Map<number, { length: number; references: readonly PayloadReference[] }>()

  /** Characters that the last record would have if it contained all its values; the bounds of a history count these. */
  size = 0

  /** The records that a later one may refer to. */
  get before(): ReadonlyMap<number, readonly TaskEvent[]> {
    return this.#before
  }

  /** Returns where the value at this place of a record is written, and how many characters that record has. */
  origin({ record, event, field }: ValueLocation): { place: ValueLocation; within: number } {
    const { length = 0, references = [] } = this.#written.get(record) ?? {}
    const [, , from = 0, at = 0, of = field] = references.find((it) => it[0] === event && it[1] === field) ?? [
      0,
      field,
      0,
      event,
    ]
    const isBack = from === 0 ? at < event : from < record
    if (isBack) return this.origin({ record: from === 0 ? record : from, event: at, field: of })
    return { place: { record, event, field }, within: length }
  }

  /** Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN. */
  events(text: string, record: number): TaskEvent[] {
    const { events, repeated, references } = readRecord(text, record, this.#before)
    this.size = text.length + repeated
    if (text.length >= SMALLEST_REFERRED) {
      this.#before.set(record, events)
      this.#written.set(record, { length: text.length, references: references ?? [] })
    }
    return events
  }

  /** Replay restarts at this record: neither it nor any later record refers to one before it. */
  rebase(record: number): void {
    for (const known of this.#before.keys()) {
      if (known >= record) continue
      this.#before.delete(known)
      this.#written.delete(known)
    }
  }
}
