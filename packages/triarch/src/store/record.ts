import { TriarchError } from '../error/error.ts'
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
  const [format, events] = parted(text, record)
  return format === 1 ? events.map(fromFormat1) : (events as unknown as TaskEvent[])
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
  return format === 1 ? text : JSON.stringify((events as unknown as TaskEvent[]).map(toFormat1))
}

function parted(text: string, record: number): [Format, StoredEvent[]] {
  const found = parsed(text, record)
  if (!Array.isArray(found)) throw corrupt(record)
  const [format] = found
  const events = typeof format === 'number' ? found.slice(1) : found
  if (typeof format === 'number' && format !== FORMAT)
    throw new TriarchError(
      'HISTORY_FORMAT_UNKNOWN',
      `record ${record} is of format ${format}, this Triarch reads up to ${FORMAT}: it takes a newer one`,
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
