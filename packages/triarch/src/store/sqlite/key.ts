import type { KeyQuery, KeyRow, KeyUse, KeyWrite } from '../key.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'

const ROWS = 'SELECT name, revision, used_at AS usedAt, state FROM triarch_keys'
const NAMED = `${ROWS} WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name`
const AFTER = `${ROWS} WHERE name > ? ORDER BY name LIMIT ? + 0`
const ENDED = `${ROWS} WHERE ends_at < ? ORDER BY name LIMIT ? + 0`
const MARK = `
SELECT coalesce((SELECT mark FROM triarch_key_changes), '') AS mark, (SELECT count(*) FROM triarch_keys) AS count`
/** The mark is random, so that it also differs in a store that went back and changed again. */
const CHANGED = `
INSERT INTO triarch_key_changes (one, mark) VALUES (1, lower(hex(randomblob(12))))
ON CONFLICT (one) DO UPDATE SET mark = excluded.mark`
const CREATE =
  'INSERT INTO triarch_keys (at, ends_at, state, name, revision) VALUES (?, ?, ?, ?, ? + 1) ON CONFLICT DO NOTHING'
const UPDATE =
  'UPDATE triarch_keys SET at = ?, ends_at = ?, state = ?, revision = revision + 1 WHERE name = ? AND revision = ?'
const DROP = 'DELETE FROM triarch_keys WHERE name = ? AND revision = ?'
const USE = 'UPDATE triarch_keys SET used_at = ? WHERE name = ? AND coalesce(used_at, 0) < ?'

export function keys(database: Database, _now: number, query: KeyQuery): KeyRow[] {
  const rows =
    'names' in query
      ? database.all<KeyRow>(NAMED, JSON.stringify(query.names))
      : 'after' in query
        ? database.all<KeyRow>(AFTER, query.after, query.limit)
        : database.all<KeyRow>(ENDED, query.endedBefore, query.limit)
  return rows.map((row) => ({ ...row }))
}

export function keyMark(database: Database): { mark: string; count: number } {
  const [row] = database.all<{ mark: string; count: number }>(MARK)
  return { mark: row?.mark ?? '', count: row?.count ?? 0 }
}

export function writeKey(database: Database, _now: number, write: KeyWrite): boolean {
  return database.transaction(() => {
    if (written(database, write) === 0) return false
    database.run(CHANGED)
    if (write.audit) keepAct(database, write.audit)
    return true
  })
}

function written(database: Database, { name, expected, at, endsAt, state }: KeyWrite): number {
  if (state === null) return database.run(DROP, name, expected)
  return database.run(expected === 0 ? CREATE : UPDATE, at, endsAt, state, name, expected)
}

export function useKeys(database: Database, _now: number, uses: readonly KeyUse[]): void {
  database.transaction(() => {
    for (const { name, at } of uses) database.run(USE, at, name, at)
  })
}
