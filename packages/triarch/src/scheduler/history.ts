import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { type DatedEvent, type Rebuilt, rebuild } from '../kernel/rebuild.ts'
import type { HistoryRecord, StateStore, TaskRow } from '../store/port.ts'
import { RecordReader } from '../store/reader.ts'
import { outlineIn, readRecord, referredIn, SMALLEST_REFERRED } from '../store/record.ts'

/** Limits of one page of a history. */
const PAGE = { records: 5_000, bytes: 4 * 1024 * 1024 }

/** Collects the events of records in order: record 1, then the records from the last continue-as-new on, without a gap. */
export class Chronicle {
  readonly events: DatedEvent[] = []
  /** Sequence number of the last record read; 0: none. */
  last = 0
  at = 0
  /** The record from which on the history is replayed. */
  base = 1
  /** Characters of the events read, not counting asides (`isAside`). */
  size = 0
  readonly #reader = new RecordReader()

  /** The reader with the values that the next record may refer to. */
  get before(): RecordReader {
    return this.#reader
  }

  /** Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, with the record in their details; CODEC_*. */
  add(record: HistoryRecord): void {
    const { seq, at } = record
    const events = eventsOf(record, this.#reader)
    // Records before a continue-as-new need not be read, and may have been deleted.
    const isBase = this.last > 0 && events.some(({ type }) => type === 'continuedAsNew')
    if (seq !== this.last + 1 && !(this.last === 1 && seq > 1 && isBase)) throw missingRecords(this.last + 1, seq - 1)
    this.last = seq
    if (isBase) {
      this.base = seq
      this.#reader.rebase(seq)
    }
    this.at = at
    if (!events.every(isAside)) this.size += this.#reader.size
    for (const event of events) this.events.push({ at, event })
  }

  /** Adds the records one by one; yields after each, so that the caller can interrupt. */
  *adding(records: readonly HistoryRecord[]): Generator<void> {
    for (const record of records) {
      this.add(record)
      yield
    }
  }
}

/** Whether the event is left out of a history's size: heartbeats and operators' remarks do not count, but what a step saves does. */
export function isAside(event: DatedEvent['event']): boolean {
  const { type } = event
  if (type === 'heartbeat') return event.checkpoint === undefined
  return asides.has(type) || (type === 'paused' && event.reason === 'operator')
}

const asides: ReadonlySet<string> = new Set(['messageIgnored', 'requestReceived', 'resumed'])

/** Reads some records of a history without those before them; values they refer to are read record by record. */
export class RangeReader {
  readonly #store: StateStore
  readonly #id: string
  readonly #before = new Map<number, readonly DatedEvent['event'][]>()

  constructor(store: StateStore, id: string) {
    this.#store = store
    this.#id = id
  }

  /** The events of the record. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*, STORE_*. */
  async events(record: HistoryRecord): Promise<DatedEvent['event'][]> {
    const text = decodedText(record)
    for (const seq of referredIn(text, record.seq)) await this.#read(seq)
    const { events } = readRecord(text, record.seq, this.#before)
    if (text.length >= SMALLEST_REFERRED) this.#before.set(record.seq, events)
    return events
  }

  /** If the record is missing, the records that refer to it cannot be read. */
  async #read(seq: number): Promise<void> {
    if (this.#before.has(seq)) return
    const [record] = await this.#store.records(this.#id, seq - 1, 1)
    if (record?.seq === seq) this.#before.set(seq, await this.events(record))
  }
}

/** The events of the records. Throws HISTORY_CORRUPT. */
export function datedEvents(records: readonly HistoryRecord[]): DatedEvent[] {
  const chronicle = new Chronicle()
  for (const record of records) chronicle.add(record)
  return chronicle.events
}

/** The records of the task after this one, as a rebuild needs them, page by page. */
export async function* pagesAfter(store: StateStore, id: string, after: number): AsyncGenerator<HistoryRecord[]> {
  for (let last = after; ; ) {
    const page = await store.replay(id, { after: last, ...PAGE })
    if (page.length > 0) yield page
    last = page.at(-1)?.seq ?? last
    if (isLast(page, PAGE)) return
  }
}

/** All records of the task, page by page. */
export async function* recordsOf(store: StateStore, id: string): AsyncGenerator<HistoryRecord[]> {
  for (let last = 0; ; ) {
    const page = await store.records(id, last, PAGE)
    if (page.length > 0) yield page
    last = page.at(-1)?.seq ?? last
    if (isLast(page, PAGE)) return
  }
}

/** The most that is read of a quarantined task's history (bytes): the task may be in quarantine for its size. */
export const READABLE: number = 64 * 1024 * 1024

/** Reads what a rebuild needs as far as it can be read, and returns the error that stopped the reading. */
export async function readHistoryPart(
  store: StateStore,
  { id, quarantined }: Pick<TaskRow, 'id' | 'quarantined'>,
): Promise<Pick<Chronicle, 'events' | 'last' | 'base'> & { broken: TriarchError | null }> {
  const chronicle = new Chronicle()
  try {
    for await (const page of pagesAfter(store, id, 0)) {
      for (const record of page) chronicle.add(record)
      if (quarantined && chronicle.size > READABLE) throw tooLarge(chronicle.last)
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const { events, last, base } = chronicle
    return { events, last, base, broken: error }
  }
  const { events, last, base } = chronicle
  return { events, last, base, broken: null }
}

export function tooLarge(last: number): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', `what comes after record ${last} is too large to be read`)
}

/** Whether no page follows: a page ends early only at the record that reaches a limit. */
export function isLast(page: readonly HistoryRecord[], most: { records: number; bytes: number }): boolean {
  let left = most.bytes
  for (const record of page) left -= record.stored ?? Buffer.byteLength(record.events)
  return page.length < most.records && left > 0
}

/**
 * The events of the next record, for a reader that has read all records before it. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN,
 * CODEC_*.
 */
export function eventsOf(record: HistoryRecord, reader: RecordReader): DatedEvent['event'][] {
  return reader.events(decodedText(record), record.seq)
}

/** The events of one record, without values that are stored in other records. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*. */
export function outlineOf(record: HistoryRecord): DatedEvent['event'][] {
  return outlineIn(decodedText(record), record.seq)
}

function decodedText({ seq, undecoded, events }: HistoryRecord): string {
  if (undecoded) throw undecodable(`record ${seq}`, undecoded, { record: seq })
  return events
}

/** The error for a value of a task that no available codec can decode. If the codec itself failed, its details say where the value is. */
export function undecodable(what: string, { code, message }: TriarchError, where: Record<string, Json>): TriarchError {
  const details = code === 'CODEC_FAILED' ? { details: where } : {}
  return new TriarchError(code, `${what} cannot be decoded: ${message}`, details)
}

/** Whether the error says that a history cannot be read. */
export function isUnreadable(error: unknown): error is TriarchError {
  return isTriarchError(error) && unreadable.has(error.code)
}

const unreadable: ReadonlySet<string> = new Set([
  'HISTORY_CORRUPT',
  'HISTORY_FORMAT_UNKNOWN',
  'CODEC_MISSING',
  'CODEC_KEY_MISSING',
  'CODEC_FAILED',
])

export function missingRecords(from: number, to: number): TriarchError {
  const message = from === to ? `record ${from} is missing` : `records ${from} to ${to} are missing`
  return new TriarchError('HISTORY_CORRUPT', message, { details: { record: from, to } })
}

/** Folds a history that may contradict itself. Throws HISTORY_CORRUPT. */
export function foldOf(id: string, history: readonly DatedEvent[]): Rebuilt {
  try {
    return rebuild(id, history)
  } catch (cause) {
    throw contradictory(cause)
  }
}

export function contradictory(cause: unknown): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', `the history contradicts itself: ${(cause as Error).message}`, { cause })
}
