import type { TaskEvent } from '../kernel/event.ts'
import { readRecord, SMALLEST_REFERRED } from './record.ts'

/** Reads the records of one history, in order: one may refer to values in those before it. */
export class RecordReader {
  readonly #before = new Map<number, readonly TaskEvent[]>()

  /** Characters of the last record, as if it had all its values itself: what bounds a history counts those. */
  size = 0

  /** The records that one after them may refer to. */
  get before(): ReadonlyMap<number, readonly TaskEvent[]> {
    return this.#before
  }

  /** Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN. */
  events(text: string, record: number): TaskEvent[] {
    const { events, repeated } = readRecord(text, record, this.#before)
    this.size = text.length + repeated
    if (text.length >= SMALLEST_REFERRED) this.#before.set(record, events)
    return events
  }

  /** Replay begins anew with this record: it refers to none before it, nor does any after it. */
  rebase(record: number): void {
    for (const known of this.#before.keys()) if (known < record) this.#before.delete(known)
  }
}
