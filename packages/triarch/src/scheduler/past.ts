import { TriarchError } from '../error/error.ts'
import type { HistoryRecord, StateStore } from '../store/port.ts'
import { isUnreadable, outlineOf } from './history.ts'

/** The records of one run of a task. A task that continues as new has several runs in its history. */
export interface HistoryRun {
  /** All readable records of the run, preceded by record 1 if the run does not begin with it. */
  records: HistoryRecord[]
  /** The first record of the run. */
  from: number
  /** The last record of the task, whichever run it belongs to. */
  last: number
}

/** Records in the first window; each further window is twice as large. */
const WINDOW = 500
const PAGE = { records: 5_000, bytes: 4 * 1024 * 1024 }

/**
 * Finds the run that a record belongs to. Reads that run, up to a window more on each side, and a few single records to find the last
 * one, however many runs there are. Throws UNKNOWN_RECORD; HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*.
 */
export async function readRun(store: StateStore, id: string, seq: number): Promise<HistoryRun> {
  const records = await before(store, id, seq)
  if (records.at(-1)?.seq !== seq) {
    const last = await lastOf(store, id, 0)
    const why = seq > last ? `its last is ${last}` : 'it was given up, or pruned with the run that it belonged to'
    throw new TriarchError('UNKNOWN_RECORD', `task "${id}" has no record ${seq}: ${why}`, { details: { last } })
  }
  const from = records[0]?.seq ?? seq
  const { found, end } = await after(store, id, seq)
  const [first] = from === 1 ? [] : await store.records(id, 0, 1)
  const last = end ?? (await lastOf(store, id, found.at(-1)?.seq ?? seq))
  return { records: [...(first ? [first] : []), ...records, ...found], from, last }
}

/** Finds the last record of the task by reading a few. `known`: a record that is known to exist (0: none). */
export async function lastOf(store: StateStore, id: string, known: number): Promise<number> {
  let low = known
  for (let step = 1, isNear = false; step >= 1; ) {
    const [record] = await store.records(id, low + step - 1, 1)
    if (record) low = record.seq
    else isNear = true
    step = isNear ? Math.floor(step / 2) : step * 2
  }
  return low
}

/** The records from the beginning of the run up to this one. */
async function before(store: StateStore, id: string, seq: number): Promise<HistoryRecord[]> {
  let records: HistoryRecord[] = []
  for (let to = seq, size = WINDOW; to > 0; size *= 2) {
    const window = await between(store, id, Math.max(0, to - size), to)
    const base = window.findLastIndex(begins)
    records = [...window.slice(Math.max(base, 0)), ...records]
    if (base >= 0) return records
    to = Math.max(0, to - size)
  }
  return records
}

/** The records of the run after this one. `end` is set if the task has no record after them. */
async function after(store: StateStore, id: string, seq: number): Promise<{ found: HistoryRecord[]; end?: number }> {
  const found: HistoryRecord[] = []
  for (let last = seq; ; ) {
    const page = await store.records(id, last, { ...PAGE, records: WINDOW })
    if (page.length === 0) return { found, end: last }
    for (const record of page) {
      if (!isReadable(record) || begins(record)) return { found }
      found.push(record)
      last = record.seq
    }
  }
}

async function between(store: StateStore, id: string, from: number, to: number): Promise<HistoryRecord[]> {
  const found: HistoryRecord[] = []
  for (let last = from; last < to; ) {
    const page = await store.records(id, last, { ...PAGE, records: Math.min(PAGE.records, to - last) })
    found.push(...page.filter(({ seq }) => seq <= to))
    last = page.at(-1)?.seq ?? to
  }
  return found
}

/** Whether a run begins with this record: except for the submission, nothing before it is needed to rebuild the task. */
function begins(record: HistoryRecord): boolean {
  return record.seq === 1 || outlineOf(record).some(({ type }) => type === 'continuedAsNew')
}

function isReadable(record: HistoryRecord): boolean {
  try {
    return outlineOf(record).length >= 0
  } catch (error) {
    if (isUnreadable(error)) return false
    throw error
  }
}
