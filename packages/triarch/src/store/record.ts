import { TriarchError } from '../error/error.ts'
import { errorNow, errorThen } from '../error/renamed.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { type Format, fromFormat1, type StoredEvent, toFormat1 } from '../kernel/format.ts'
import type { Json } from '../kernel/json.ts'

/** The format in which this version writes. */
export const FORMAT: Format = 2
/** That of a record in which values are referred to: the same events, and at the end a list of the references. */
export const REFERRING = 3

/** The fields of events that may be referred to, and refer. */
export type PayloadField = 'input' | 'output' | 'payload'
/**
 * In place of a value that stands in the history already there is null. Of which event, in which field; and where it stands: in which
 * record (0: this one), at which event, in which field. `size`: characters that are not written for it.
 */
export type Reference = [event: number, field: PayloadField, from: number, at: number, of: PayloadField, size: number]

/** No record with fewer characters is referred to. */
export const SMALLEST_REFERRED = 512

/** Records of the history that were read before, by their numbers. */
type Before = ReadonlyMap<number, readonly TaskEvent[]>

/**
 * The text of a history record: a JSON array that begins with the number of its format, and goes on with the events. The first
 * format had no number: its records begin with an event.
 */
export function recordText(events: readonly TaskEvent[], references: readonly Reference[] = []): string {
  if (references.length === 0) return JSON.stringify((events as readonly unknown[]).toSpliced(0, 0, FORMAT))
  const bare = [...events]
  for (const [event, field] of references) bare[event] = { ...bare[event], [field]: null } as TaskEvent
  return JSON.stringify([REFERRING, ...bare, references])
}

/**
 * The events of a record, whatever its format. `record`: its number in the history; `before`: the large ones before it, of which values
 * may stand here (`RecordReader`). Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN.
 */
export function eventsIn(text: string, record: number, before: Before = NONE): TaskEvent[] {
  return readRecord(text, record, before).events
}

/** The same of a record by itself, for who asks what happened: null where a value stands that is in another. */
export function outlineIn(text: string, record: number): TaskEvent[] {
  return readRecord(text, record, null).events
}

/** The records before it of which values stand in this one. Throws HISTORY_CORRUPT. */
export function referredIn(text: string, record: number): number[] {
  if (!text.startsWith(`[${REFERRING},`)) return []
  const [, , references] = parted(text, record)
  return [...new Set((references ?? []).map(([, , from]) => from))].filter((from) => from > 0 && from < record)
}

/** The outline, where one that cannot be read costs nothing but its own answer: null. */
export function legibleOutline(text: string | undefined): TaskEvent[] | null {
  try {
    return text === undefined ? null : outlineIn(text, 0)
  } catch {
    return null
  }
}

const NONE: Before = new Map()

/** `repeated`: characters that its text would have more if it had all values itself. `references`: null, it has none. */
export function readRecord(
  text: string,
  record: number,
  before: Before | null,
): { events: TaskEvent[]; repeated: number; references: readonly Reference[] | null } {
  const [format, stored, references] = parted(text, record)
  let events = format === 1 ? stored.map(fromFormat1) : (stored as unknown as TaskEvent[])
  if (tellsOfErrors(text)) events = events.map((event) => withError(event, errorNow))
  const repeated = references === null ? 0 : resolve(events, references, { record, before })
  return { events, repeated, references }
}

type Payloads = { [F in PayloadField]?: Json }

/** Some events have some of the fields, and which is for the record to say. */
const payloadsOf = (events: readonly TaskEvent[] | undefined, at: number) => events?.[at] as Payloads | undefined

/** The places share one value: memory has it once, too. */
function resolve(
  events: readonly TaskEvent[],
  references: readonly Reference[],
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

/** The record for a store on which code works that reads format 1 only. */
export function inFormat1(text: string): string {
  const [format, events, references] = parted(text, 0)
  if (format === 1) return text
  if (references !== null) throw new Error('a record of format 1 refers to nothing')
  const known = events as unknown as TaskEvent[]
  const named = tellsOfErrors(text) ? known.map((event) => withError(event, errorThen)) : known
  return JSON.stringify(named.map(toFormat1))
}

/** Most records do not, and are not looked through. */
function tellsOfErrors(text: string): boolean {
  return text.includes('"code":')
}

function withError(event: TaskEvent, named: typeof errorNow): TaskEvent {
  if (!('error' in event)) return event
  const error = named(event.error)
  return error === event.error ? event : ({ ...event, error } as TaskEvent)
}

function parted(text: string, record: number): [Format, StoredEvent[], Reference[] | null] {
  const found = parsed(text, record)
  if (!Array.isArray(found)) throw unreadable(record)
  const [format] = found
  const isFirst = typeof format !== 'number'
  if (!isFirst && format !== FORMAT && format !== REFERRING) throw unknownFormat(record, format, REFERRING)
  const references = format === REFERRING ? found.at(-1) : null
  const events = isFirst ? found : found.slice(1, references === null ? undefined : -1)
  if (!events.every((event) => typeof event?.type === 'string')) throw unreadable(record)
  if (references !== null && !(Array.isArray(references) && references.every(Array.isArray))) throw unreadable(record)
  return [isFirst ? 1 : FORMAT, events, references]
}

function parsed(text: string, record: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(record, cause)
  }
}

export function unknownFormat(record: number, found: number, known: number): TriarchError {
  const message = `record ${record} is of format ${found}, this Triarch reads up to ${known}: update it`
  return new TriarchError('HISTORY_FORMAT_UNKNOWN', message, { details: { record, found, known } })
}

export function unreadable(record: number, cause?: unknown): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', `record ${record} is unreadable`, { cause, details: { record } })
}
