import { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'

/** The format in which records are written, and the only one that is read. */
export const FORMAT = 1

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
 * The text of a history record: a JSON array of the number of its format, the events, and, if values are referred to, the list of the
 * references.
 */
export function recordText(events: readonly TaskEvent[], references: readonly Reference[] = []): string {
  if (references.length === 0) return JSON.stringify((events as readonly unknown[]).toSpliced(0, 0, FORMAT))
  const bare = [...events]
  for (const [event, field] of references) bare[event] = { ...bare[event], [field]: null } as TaskEvent
  return JSON.stringify([FORMAT, ...bare, references])
}

/**
 * The events of a record. `record`: its number in the history; `before`: the large records before it, whose values it may refer to
 * (`RecordReader`). Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN.
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
  if (!text.endsWith(']]]')) return []
  const { references } = parted(text, record)
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
  const { events, references } = parted(text, record)
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

function parted(text: string, record: number): { events: TaskEvent[]; references: Reference[] | null } {
  const found = parsed(text, record)
  if (!Array.isArray(found)) throw unreadable(record)
  const [format, ...rest] = found
  if (typeof format !== 'number') throw unreadable(record)
  if (format !== FORMAT) throw unknownFormat(record, format)
  const references: unknown = Array.isArray(rest.at(-1)) ? rest.pop() : null
  if (!rest.every((event) => typeof event?.type === 'string')) throw unreadable(record)
  if (references !== null && !(references as unknown[]).every(Array.isArray)) throw unreadable(record)
  return { events: rest as TaskEvent[], references: references as Reference[] | null }
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
