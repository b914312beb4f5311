import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import { eventsIn, FORMAT, unknownFormat, unreadable } from '../store/record.ts'

/** A record as it may be shown, before it is put into the words of the API. */
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
  /** What happened, as stores keep it: their words are those of the format. */
  events: readonly Json[]
  /** Of a task in quarantine: why the record cannot be read. */
  error?: ErrorRecord
  /** Of a task in quarantine: records that are missing before this one. */
  missing?: { from: number; to: number }
}

/**
 * The history of a task as stores keep it, as plain JSON. What is in its events is for `replayHistory`, and is no promise: `task.history()` tells
 * people and programs what happened.
 * @example
 * const { format, records }: TaskExport = await task.export()
 * console.log(`${records.length} records of format ${format}`)
 */
export interface TaskExport {
  /** The format of the records. */
  format: number
  /** The id of the task. */
  task: string
  /** All of them, the oldest first. */
  records: readonly ExportedRecord[]
  /** Secrets are not in it: `•••` stands in their place, and it cannot be imported. */
  veiled: boolean
}

/**
 * Which records of a history.
 * @example
 * const [last] = (await task.history()).slice(-1)
 * const later = await task.history({ after: last?.seq ?? 0, limit: 100 })
 */
export interface RecordRange {
  /** Those after this record; from the first. */
  after?: number
  /** Most records. There are fewer where they are large (1 MiB), and none where there is none after `after`; all. */
  limit?: number
}

/**
 * How much of a history is exported.
 * @example const whole: ExportOptions = { secrets: true }
 */
export interface ExportOptions extends RecordRange {
  /** With what is marked as secret, readable: only where the store is, never from a server. False. */
  secrets?: boolean
}

export function exportOf(task: string, records: readonly ShownRecord[], veiled: boolean): TaskExport {
  return { format: FORMAT, task, records: records as unknown as ExportedRecord[], veiled }
}

/**
 * The record as stores have it. An export has no references: no value takes more room in memory than in the file. Throws
 * HISTORY_FORMAT_UNKNOWN, HISTORY_CORRUPT.
 */
export function exportedText(format: number, { seq, events }: ExportedRecord): string {
  if (format !== FORMAT) throw unknownFormat(seq, format)
  if (Array.isArray(events.at(-1))) throw unreadable(seq)
  return JSON.stringify([format, ...events])
}

/** What was exported, to be folded. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN. */
export function eventsOfExport({ format, records }: TaskExport): DatedEvent[] {
  return records.flatMap((record) =>
    eventsIn(exportedText(format, record), record.seq).map((event) => ({ at: record.at, event })),
  )
}
