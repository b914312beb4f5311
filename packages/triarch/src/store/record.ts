import { TriarchError } from '../error/error.ts'
import { errorNow, errorThen } from '../error/renamed.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { type Format, fromFormat1, type StoredEvent, toFormat1 } from '../kernel/format.ts'

/** The format in which this version writes, and the newest that it reads. */
export const FORMAT: Format = 2

/**
 * The text of a history record: a JSON array that begins with the number of its format, and goes on with the events. The first
 * format had no number: its records begin with an event.
 */
export function recordText(events: readonly TaskEvent[]): string {
  return JSON.stringify([FORMAT, ...events])
}

/** The events of a record, whatever its format. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN; `record`: its number in the history. */
export function eventsIn(text: string, record: number): TaskEvent[] {
  const [format, stored] = parted(text, record)
  const events = format === 1 ? stored.map(fromFormat1) : (stored as unknown as TaskEvent[])
  return tellsOfErrors(text) ? events.map((event) => withError(event, errorNow)) : events
}

/** The same, where one that cannot be read costs nothing but its own answer: null. */
export function legibleEvents(text: string | undefined): TaskEvent[] | null {
  try {
    return text === undefined ? null : eventsIn(text, 0)
  } catch {
    return null
  }
}

/** The record for a store on which code works that reads format 1 only. */
export function inFormat1(text: string): string {
  const [format, events] = parted(text, 0)
  if (format === 1) return text
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

function parted(text: string, record: number): [Format, StoredEvent[]] {
  const found = parsed(text, record)
  if (!Array.isArray(found)) throw corrupt(record)
  const [format] = found
  const events = typeof format === 'number' ? found.slice(1) : found
  if (typeof format === 'number' && format !== FORMAT)
    throw new TriarchError(
      'HISTORY_FORMAT_UNKNOWN',
      `record ${record} is of format ${format}, this Triarch reads up to ${FORMAT}: update it`,
      { details: { record, found: format, known: FORMAT } },
    )
  if (!events.every((event) => typeof event?.type === 'string')) throw corrupt(record)
  return [events === found ? 1 : FORMAT, events]
}

function parsed(text: string, record: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw corrupt(record, cause)
  }
}

function corrupt(record: number, cause?: unknown): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', `record ${record} is unreadable`, { cause, details: { record } })
}
