import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { Redaction } from '../kernel/redaction.ts'
import { isLast, missingRecords, RangeReader } from '../scheduler/history.ts'
import type { HistoryRecord } from '../store/port.ts'
import { checkInteger } from '../value/options.ts'
import type { RecordRange, ShownRecord } from '../view/export.ts'
import type { Connection } from './connection.ts'

/** Limits of one store call, and of a range with a limit. */
const PAGE = { records: 500, bytes: 1024 * 1024 }

export const rangeKeys = ['after', 'limit'] as const

/** Throws INVALID_OPTION. */
export function checkRange(what: string, { after, limit }: RecordRange): void {
  if (after !== undefined) checkInteger(`${what}: after`, after, 0, Number.MAX_SAFE_INTEGER)
  if (limit !== undefined) checkInteger(`${what}: limit`, limit, 1, Number.MAX_SAFE_INTEGER)
}

/**
 * Records of the history, all or those of a range. `veil`: without secrets. For a quarantined task, those that can be read. Throws
 * UNKNOWN_TASK, HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*, STORE_*.
 */
export async function readRecords(
  connection: Connection,
  id: string,
  { after = 0, limit, veil }: RecordRange & { veil: boolean },
): Promise<{ records: ShownRecord[]; veiled: boolean }> {
  const { store, leisure, veils } = connection
  const row = await connection.row(id)
  const known = veil ? await veils.of(row) : null
  if (known?.broken && !row.quarantined) throw known.broken
  const hides = known !== null && !known.redaction.isEmpty
  const reader = new RangeReader(store, id)
  const records: ShownRecord[] = []
  const pace = leisure.pace()
  for (let before = after, left = limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
    const most = { ...PAGE, records: Math.min(PAGE.records, left) }
    const page = await store.records(id, before, most)
    for (const record of page) {
      const isFirst = before === after && after > 0
      const shown = await (row.quarantined ? partly : wholly)(record, { before, isFirst, reader })
      records.push(hides ? veiled(shown, known.redaction) : shown)
      before = record.seq
      const rest = pace.show()
      if (rest !== null) await rest
    }
    left -= page.length
    // A range may end early if its records are large.
    if (page.length === 0 || isLast(page, most) || (limit !== undefined && page.length < most.records)) break
  }
  return { records, veiled: hides }
}

function veiled(record: ShownRecord, redaction: Redaction): ShownRecord {
  return { ...record, events: record.events.map((event) => redaction.shown(event)) }
}

interface Position {
  /** The number of the record before it. */
  before: number
  /** It is the first record of a range, so the one before it was not read. */
  isFirst: boolean
  reader: RangeReader
}

async function wholly(record: HistoryRecord, { before, isFirst, reader }: Position): Promise<ShownRecord> {
  const { seq, at } = record
  const events = await reader.events(record)
  if (seq !== before + 1) {
    // Records before a continue-as-new may have been deleted.
    const isBase = events.some(({ type }) => type === 'continuedAsNew')
    if (!isBase || (before !== 1 && !isFirst)) throw missingRecords(before + 1, seq - 1)
  }
  return { seq, at, events }
}

/** What can be read of the record, and what is missing before it. */
async function partly(record: HistoryRecord, { before, reader }: Position): Promise<ShownRecord> {
  const { seq, at } = record
  const gap = seq > before + 1 && { missing: { from: before + 1, to: seq - 1 } }
  try {
    const events = await reader.events(record)
    // Records before a continue-as-new may have been deleted.
    const isBase = before === 1 && events.some(({ type }) => type === 'continuedAsNew')
    return { seq, at, events, ...(!isBase && gap) }
  } catch (error) {
    if (error instanceof TriarchError && error.code.startsWith('STORE_')) throw error
    const { stack: _, ...why } = toRecord(error)
    return { seq, at, events: [], error: why, ...gap }
  }
}
