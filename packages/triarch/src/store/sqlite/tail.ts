import type { LostRecord, OwnedRequest, OwnedTask, RecordMark } from '../port.ts'
import type { Database } from './database.ts'

/** Those before the base may have been dropped. */
const LOST = `
SELECT (SELECT max(seq) FROM triarch_history WHERE task = t.key) AS last FROM (SELECT 1)
LEFT JOIN triarch_tasks t ON t.key = ?1 AND t.id = ?2
WHERE t.key IS NULL
  OR (t.base_seq <= ?3 AND NOT EXISTS (SELECT 1 FROM triarch_history WHERE task = t.key AND seq = ?3))`

const OWNED = 'SELECT key, id, epoch FROM triarch_tasks WHERE locked_by = ? AND key > ? ORDER BY key LIMIT ?'

export function lost(database: Database, _now: number, marks: readonly RecordMark[]): LostRecord[] {
  return marks.flatMap(({ id, key, seq }) => {
    const row = database.get<{ last: number | null }>(LOST, key, id, seq)
    return row ? [{ id, last: row.last }] : []
  })
}

export function owned(database: Database, _now: number, { node, after, limit }: OwnedRequest): OwnedTask[] {
  return database.all<OwnedTask>(OWNED, node, after, limit).map((row) => ({ ...row }))
}
