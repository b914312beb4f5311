import type { Audited } from '../audit.ts'
import type { CacheBounds, CacheFill, CacheRow, CacheWrite, FillBegun, Invalidations } from '../cache.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'

const ALIVE = 'EXISTS (SELECT 1 FROM triarch_nodes n WHERE n.id = c.flight AND n.dead = 0)'
const RECALL = `
SELECT c.value, c.seen, ?2 - c.at AS age, c.expires > ?2 AS fresh, c.flight_until > ?2 AND ${ALIVE} AS flying
FROM triarch_cache c WHERE c.key = ?1`
const REMEMBER = `
INSERT INTO triarch_cache (key, value, seen, at, expires) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, seen = excluded.seen, at = excluded.at,
  expires = max(excluded.expires, iif(flight = ?6, 0, flight_until)), flight = nullif(flight, ?6),
  flight_until = iif(flight = ?6, 0, flight_until)
WHERE excluded.at > triarch_cache.at`
const FLY = `
INSERT INTO triarch_cache AS c (key, expires, flight, flight_until) VALUES (?1, ?3, ?2, ?3)
ON CONFLICT (key) DO UPDATE SET flight = ?2, flight_until = ?3, expires = max(expires, ?3)
WHERE c.flight_until <= ?4 OR c.flight = ?2 OR NOT ${ALIVE}
RETURNING value, seen, ?4 - at AS age`
const LAND = 'UPDATE triarch_cache SET flight = NULL, flight_until = 0 WHERE key = ? AND flight = ?'
const NEXT = `
INSERT INTO triarch_cache_marks (name, generation) VALUES ('', 1)
ON CONFLICT (name) DO UPDATE SET generation = generation + 1 RETURNING generation`
const MARK = `
INSERT INTO triarch_cache_marks (name, generation) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET generation = excluded.generation`
const MARKS = `SELECT name, generation FROM triarch_cache_marks WHERE generation > ? OR name IN ('', 'floor')`
const EXPIRED = `
DELETE FROM triarch_cache WHERE key IN (SELECT key FROM triarch_cache WHERE expires <= ? ORDER BY expires LIMIT ? + 0)`
const SURPLUS = `
DELETE FROM triarch_cache WHERE key IN (SELECT key FROM triarch_cache ORDER BY expires
  LIMIT max(0, min(?1, (SELECT count(*) FROM (SELECT 1 FROM triarch_cache LIMIT ?2 + ?1)) - ?2)))`
const OLD = `
SELECT generation FROM triarch_cache_marks WHERE name NOT IN ('', 'floor') ORDER BY generation DESC LIMIT 1 OFFSET ?`
const FORGET = `DELETE FROM triarch_cache_marks WHERE generation <= ? AND name NOT IN ('', 'floor')`

export function readCache(database: Database, now: number, key: string): CacheRow {
  const row = database.get<{ value: string | null; seen: number; age: number; fresh: number; flying: number }>(
    ...([RECALL, key, now] as const),
  )
  if (!row) return { answer: null, flying: false }
  const { value, seen, age, fresh, flying } = row
  return { answer: value === null || fresh === 0 ? null : { key, value, seen, age }, flying: flying === 1 }
}

export function writeCache(database: Database, now: number, { key, node, value, seen, at, keep }: CacheWrite): void {
  const given = Math.min(at, now)
  if (database.run(REMEMBER, key, value, seen, given, given + keep, node) === 0) database.run(LAND, key, node)
}

export function beginFill(database: Database, now: number, { key, node, within }: CacheFill): FillBegun {
  const row = database.get<{ value: string | null; seen: number; age: number }>(FLY, key, node, now + within, now)
  if (!row) return { begun: false, answer: null }
  const { value, seen, age } = row
  return { begun: true, answer: value === null ? null : { key, value, seen, age } }
}

export function endFill(database: Database, _now: number, { key, node }: Pick<CacheFill, 'key' | 'node'>): void {
  database.run(LAND, key, node)
}

export function invalidate(
  database: Database,
  _now: number,
  names: readonly string[],
  acted: Audited | null = null,
): number {
  return database.transaction(() => {
    const generation = database.get<{ generation: number }>(NEXT)?.generation ?? 0
    for (const name of names) database.run(MARK, name, generation)
    if (acted?.audit) keepAct(database, acted.audit)
    return generation
  })
}

export function invalidated(database: Database, _now: number, after: number): Invalidations {
  const rows = database.all<{ name: string; generation: number }>(MARKS, after)
  const of = (name: string) => rows.find((row) => row.name === name)?.generation ?? 0
  const marks = rows.filter(({ name }) => name !== '' && name !== 'floor').map((row) => ({ ...row }))
  return { last: of(''), floor: of('floor'), marks }
}

export function trimCache(database: Database, now: number, { limit, marks, answers }: CacheBounds): number {
  return database.transaction(() => {
    const expired = database.run(EXPIRED, now, limit)
    const surplus = database.run(SURPLUS, limit, answers)
    const floor = database.get<{ generation: number }>(OLD, marks)?.generation
    if (floor !== undefined) {
      database.run(MARK, 'floor', floor)
      database.run(FORGET, floor)
    }
    return expired + surplus
  })
}
