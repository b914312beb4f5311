import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import { eventsIn, FORMAT, unknownFormat, unreadable } from '../store/record.ts'

/** A record with secrets hidden, before it is converted to the API's form. */
export interface ShownRecord {
  seq: number
  at: number
  events: TaskEvent[]
  error?: ErrorRecord
  missing?: { from: number; to: number }
}

/** One record of an export. */
export interface ExportedRecord {
  /** Its place in the history, from 1. */
  seq: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** The events in the stored format. */
  events: readonly Json[]
  /** Of a task in quarantine: why the record cannot be read. */
  error?: ErrorRecord
  /** Of a task in quarantine: records that are missing before this one. */
  missing?: { from: number; to: number }
}

/**
 * The history of a task in the stored format, as plain JSON. Its events are meant for `replayHistory` and may change in later versions; for
 * people and programs there is `task.history()`.
 * @example
 * const { format, records }: TaskExport = await task.export()
 * console.log(`${records.length} records of format ${format}`)
 */
export interface TaskExport {
  /** The format of the records. */
  format: number
  /** The id of the task. */
  task: string
  /** All records, oldest first. */
  records: readonly ExportedRecord[]
  /** Secrets are replaced by `•••`, so the export cannot be imported. */
  veiled: boolean
}

/**
 * A range of records of a history.
 * @example
 * const [last] = (await task.history()).slice(-1)
 * const later = await task.history({ after: last?.seq ?? 0, limit: 100 })
 */
export interface RecordRange {
  /** Records after this one; from the first. */
  after?: number
  /** Largest number of records; fewer are returned if they are large (1 MiB), none if there is none after `after`; all. */
  limit?: number
}

/**
 * The range and content of an export.
 * @example const whole: ExportOptions = { secrets: true }
 */
export interface ExportOptions extends RecordRange {
  /** Includes secrets in readable form; only in a process with the store, never from a server; false. */
  secrets?: boolean
}

export function exportOf(task: string, records: readonly ShownRecord[], veiled: boolean): TaskExport {
  return { format: FORMAT, task, records: records as unknown as ExportedRecord[], veiled }
}

/**
 * The record in the form of the stores. An export has no references, so no value takes more room in memory than in the file. Throws
 * HISTORY_FORMAT_UNKNOWN, HISTORY_CORRUPT.
 */
export function exportedText(format: number, { seq, events }: ExportedRecord): string {
  if (format !== FORMAT) throw unknownFormat(seq, format)
  if (Array.isArray(events.at(-1))) throw unreadable(seq)
  return JSON.stringify([format, ...events])
}

/** The events of an export, for a rebuild. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN. */
export function eventsOfExport({ format, records }: TaskExport): DatedEvent[] {
  return records.flatMap((record) =>
    eventsIn(exportedText(format, record), record.seq).map((event) => ({ at: record.at, event })),
  )
}
