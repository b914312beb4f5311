import { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'

/** The format in which records are written, and the only one that is read. */
export const FORMAT = 1

/** Fields of events whose values may be replaced by references, and be referred to. */
export type PayloadField = 'input' | 'output' | 'payload'
/**
 * A reference: the field of the event holds null because its value is already written elsewhere in the history. It
 * names the event and the field, and where the value is written: the record (0: this one), the event and the field.
 * `size`: how many characters the reference saves.
 */
export type PayloadReference = [
  event: number,
  field: PayloadField,
  from: number,
  at: number,
  of: PayloadField,
  size: number,
]

/** Records with fewer characters are never referred to. */
export const SMALLEST_REFERRED = 512

/** Records that were read before, by their numbers. */
type Before = ReadonlyMap<number, readonly TaskEvent[]>

/**
 * Returns the text of a history record: a JSON array of the number of its format, the events, and, if values are
 * referred to, the list of the references.
 */
export function recordText(events: readonly TaskEvent[], references: readonly PayloadReference[] = []): string {
  if (references.length === 0) return JSON.stringify((events as readonly unknown[]).toSpliced(0, 0, FORMAT))
  const bare = [...events]
  for (const [event, field] of references) bare[event] = { ...bare[event], [field]: null } as TaskEvent
  return JSON.stringify([FORMAT, ...bare, references])
}

/**
 * Returns the events of a record. `record`: its number in the history; `before`: the large records before it, whose
 * values it may refer to (`RecordReader`). Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN.
 */
export function eventsIn(text: string, record: number, before: Before = NONE): TaskEvent[] {
  return readRecord(text, record, before).events
}

/**
 * Returns the events of a record without the others of its history, for readers that need to know only what happened: a
 * value that is written in another record is null.
 */
export function outlineIn(text: string, record: number): TaskEvent[] {
  return readRecord(text, record, null).events
}

/** Returns the numbers of the earlier records that this one refers to. Throws HISTORY_CORRUPT. */
export function referredIn(text: string, record: number): number[] {
  if (!text.endsWith(']]]')) return []
  const { references } = parted(text, record)
  return [...new Set((references ?? []).map(([, , from]) => from))].filter((from) => from > 0 && from < record)
}

/** Like `outlineIn`, but returns null for a record that cannot be read, so that it fails no other answer. */
export function legibleOutline(text: string | undefined): TaskEvent[] | null {
  try {
    return text === undefined ? null : outlineIn(text, 0)
  } catch {
    return null
  }
}

const NONE: Before = new Map()

/** Reads a record. `repeated`: how many characters its references save. `references`: null if it has none. */
export function readRecord(
  text: string,
  record: number,
  before: Before | null,
): { events: TaskEvent[]; repeated: number; references: readonly PayloadReference[] | null } {
  const { events, references } = parted(text, record)
  const repeated = references === null ? 0 : resolve(events, references, { record, before })
  return { events, repeated, references }
}

type Payloads = { [F in PayloadField]?: Json }

/** The payload fields of an event; the type does not say which it has, the record does. */
const payloadsOf = (events: readonly TaskEvent[] | undefined, at: number) => events?.[at] as Payloads | undefined

/** Replaces references by their values. All places share one value, so it is in memory once. */
function resolve(
  events: readonly TaskEvent[],
  references: readonly PayloadReference[],
  { record, before }: { record: number; before: Before | null },
): number {
  let repeated = 0
  for (const [event, field, from, at, of, size] of references) {
    repeated += size
    const place = payloadsOf(events, event)
    const source = payloadsOf(from === 0 ? events : before?.get(from), at)
    if (from !== 0 && before === null) continue
    if (!place || !Object.hasOwn(place, field) || !source || !Object.hasOwn(source, of)) throw unreadable(record)
    place[field] = source[of] ?? null
  }
  if (!(repeated >= 0)) throw unreadable(record)
  return repeated
}

function parted(text: string, record: number): { events: TaskEvent[]; references: PayloadReference[] | null } {
  const found = parsed(text, record)
  if (!Array.isArray(found)) throw unreadable(record)
  const [format, ...rest] = found
  if (typeof format !== 'number') throw unreadable(record)
  if (format !== FORMAT) throw unknownFormat(record, format)
  const references: unknown = Array.isArray(rest.at(-1)) ? rest.pop() : null
  if (!rest.every((event) => typeof event?.type === 'string')) throw unreadable(record)
  if (references !== null && !(references as unknown[]).every(Array.isArray)) throw unreadable(record)
  return { events: rest as TaskEvent[], references: references as PayloadReference[] | null }
}

function parsed(text: string, record: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(record, cause)
  }
}

export function unknownFormat(record: number, found: number): TriarchError {
  const message = `record ${record} is of format ${found}, this version of Triarch reads format ${FORMAT}: update it`
  return new TriarchError('HISTORY_FORMAT_UNKNOWN', message, { details: { record, found, known: FORMAT } })
}

export function unreadable(record: number, cause?: unknown): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', `record ${record} is unreadable`, { cause, details: { record } })
}
