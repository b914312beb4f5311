import type { LostRecord, OwnedRequest, OwnedTask, RecordMark } from '../port.ts'
import type { Database } from './database.ts'

/** Records before the base may have been dropped. */
const LOST = `
SELECT (SELECT max(seq) FROM triarch_history WHERE task = t.key) AS last FROM (SELECT 1)
LEFT JOIN triarch_tasks t ON t.key = ?1 AND t.id = ?2
WHERE t.key IS NULL
  OR (t.base_seq <= ?3 AND NOT EXISTS (SELECT 1 FROM triarch_history WHERE task = t.key AND seq = ?3))`

const OWNED = 'SELECT key, id, epoch FROM triarch_tasks WHERE locked_by = ? AND key > ? ORDER BY key LIMIT ? + 0'

/**
 * A reply replaces its request, and stays until a record of it is written, of which the caller knows. The existence of
 * a later record proves nothing, because it may be about something else.
 */
const REQUEST_LOST = `
SELECT 1 FROM triarch_tasks t WHERE t.key = ?1
  AND NOT EXISTS (SELECT 1 FROM triarch_work WHERE task = ?1 AND step = ?2 AND operation = ?3 AND attempt = ?4)
  AND NOT EXISTS (SELECT 1 FROM triarch_inbox WHERE task = ?1 AND kind <> 'kept')`

export function lostRecords(database: Database, _now: number, marks: readonly RecordMark[]): LostRecord[] {
  return marks.flatMap(({ id, key, seq, request }): LostRecord[] => {
    const row = database.get<{ last: number | null }>(LOST, key, id, seq)
    if (row) return [{ id, last: row.last }]
    if (!request) return []
    const { step, operation, attempt } = request
    return database.get(REQUEST_LOST, key, step, operation, attempt) ? [{ id, last: seq, request: true }] : []
  })
}

export function owned(database: Database, _now: number, { node, after, limit }: OwnedRequest): OwnedTask[] {
  return database.all<OwnedTask>(OWNED, node, after, limit).map((row) => ({ ...row }))
}
