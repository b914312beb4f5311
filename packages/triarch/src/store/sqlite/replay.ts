import type { HistoryRecord, ReplayPage } from '../port.ts'
import type { Database } from './database.ts'

const BASE = 'SELECT key, base_seq AS base FROM triarch_tasks WHERE id = ?'
const FROM = `
SELECT seq, at, octet_length(events) AS size FROM triarch_history WHERE task = ? AND seq >= ? AND seq > ? ORDER BY seq LIMIT ? + 0`
const FIRST = 'SELECT seq, at, octet_length(events) AS size FROM triarch_history WHERE task = ? AND seq = 1'
const EVENTS = 'SELECT events FROM triarch_history WHERE task = ? AND seq = ?'
const SIZE = `
SELECT count(*) AS records, coalesce(sum(size), 0) AS bytes FROM (
  SELECT octet_length(events) AS size FROM triarch_history WHERE task = ?1 AND seq = 1
  UNION ALL SELECT octet_length(events) FROM triarch_history
  WHERE task = ?1 AND seq > 1 AND seq >= (SELECT base_seq FROM triarch_tasks WHERE key = ?1) LIMIT ?2 + 0)`

export function replay(database: Database, _now: number, id: string, page?: ReplayPage | null): HistoryRecord[] {
  const task = database.get<{ key: number; base: number }>(BASE, id)
  const { after, records, bytes } = page ?? { after: 0, records: MOST, bytes: Number.MAX_SAFE_INTEGER }
  return task ? pageOf(database, { ...task, after }, { records, bytes }).records : []
}

/** Reads what a rebuild needs from the record after `after` on: the submission, and the history since the base. */
export function pageOf(
  database: Database,
  { key, base, after }: { key: number; base: number; after: number },
  most: { records: number; bytes: number },
): { records: HistoryRecord[]; more: boolean } {
  const first = base > 1 && after === 0 ? database.all<SizedRecord>(FIRST, key) : []
  // One record more than requested shows whether there are more.
  const found = [...first, ...database.all<SizedRecord>(FROM, key, base, after, most.records + 1)]
  const page = upTo(found, most)
  return { records: withEvents(database, key, page), more: page.length < found.length }
}

const MOST = 1e9

/** Counts the records and bytes that a rebuild reads; if there are more than `most` records, only that there are more. */
export function sizeOf(database: Database, key: number, most: number = MOST): { records: number; bytes: number } {
  return database.get<{ records: number; bytes: number }>(SIZE, key, most + 1) ?? { records: 0, bytes: 0 }
}

/** A record without its text, so that records beyond the bounds are not even read. */
export interface SizedRecord {
  seq: number
  at: number
  size: number
}

/** Returns the records up to the one that reaches a bound. */
export function upTo(found: readonly SizedRecord[], most: { records: number; bytes: number }): SizedRecord[] {
  let { bytes } = most
  const end = found.findIndex(({ size }, index) => {
    const full = bytes <= 0 || index >= most.records
    bytes -= size
    return full && index > 0
  })
  return end < 0 ? [...found] : found.slice(0, end)
}

export function withEvents(database: Database, key: number, page: readonly SizedRecord[]): HistoryRecord[] {
  return page.map(({ seq, at }) => {
    return { seq, at, events: database.get<{ events: string }>(EVENTS, key, seq)?.events ?? '' }
  })
}
