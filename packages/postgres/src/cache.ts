import type { CacheRow, FillBegun, Invalidations } from 'triarch/store'
import { withAct } from './audit.ts'
import type { Row } from './query.ts'

const ALIVE = 'EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = c.flight AND NOT n.dead)'
const NOW = '(SELECT triarch.clock($1) AS now) t'
export const RECALL: string = `
SELECT c.value, c.seen, t.now - c.at, c.expires > t.now, c.flight_until > t.now AND ${ALIVE}
FROM ${NOW}, triarch.cache c WHERE c.key = $2`
export const REMEMBER: string = `
WITH written AS (
  INSERT INTO triarch.cache AS c (key, value, seen, at, expires)
  SELECT $2, $3, $4, least($6, t.now), least($6, t.now) + $5 FROM ${NOW}
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, seen = excluded.seen, at = excluded.at,
    expires = greatest(excluded.expires, CASE WHEN c.flight = $7 THEN 0 ELSE c.flight_until END), flight = nullif(c.flight, $7),
    flight_until = CASE WHEN c.flight = $7 THEN 0 ELSE c.flight_until END
  WHERE excluded.at > c.at RETURNING 1)
UPDATE triarch.cache c SET flight = NULL, flight_until = 0
WHERE c.key = $2 AND c.flight = $7 AND NOT EXISTS (SELECT 1 FROM written)`
export const FLY: string = `
INSERT INTO triarch.cache AS c (key, expires, flight, flight_until, at) SELECT $2, t.now + $4, $3, t.now + $4, 0 FROM ${NOW}
ON CONFLICT (key) DO UPDATE SET flight = excluded.flight, flight_until = excluded.flight_until,
  expires = greatest(c.expires, excluded.flight_until)
WHERE c.flight_until <= triarch.clock($1) OR c.flight = excluded.flight OR NOT ${ALIVE}
RETURNING c.value, c.seen, triarch.clock($1) - c.at`
export const LAND =
  'UPDATE triarch.cache c SET flight = NULL, flight_until = 0 WHERE c.key = $1 AND c.flight = $2 RETURNING 1'
/** The row without a name stays locked until the invalidation is committed, so that generations become visible in order. */
const MARKED = `next AS (
  INSERT INTO triarch.cache_marks AS m (name, generation) VALUES ('', 1)
  ON CONFLICT (name) DO UPDATE SET generation = m.generation + 1 RETURNING m.generation),
marked AS (
  INSERT INTO triarch.cache_marks AS m (name, generation) SELECT DISTINCT x.name, n.generation FROM next n, unnest($1::text[]) AS x (name)
  ON CONFLICT (name) DO UPDATE SET generation = excluded.generation RETURNING 1)`
const GENERATION = 'SELECT n.generation FROM next n, (SELECT count(*) FROM marked) c'
export const INVALIDATE: string = `WITH ${MARKED} ${GENERATION}`
export const INVALIDATE_ACT: string = withAct(GENERATION, 1, 'true', MARKED)
export const INVALIDATED =
  "SELECT m.name, m.generation FROM triarch.cache_marks m WHERE m.generation > $1 OR m.name IN ('', 'floor')"
/** Rows are selected by `ARRAY(…)`, which is evaluated once: see migrations/0001/sweep.sql. */
export const FORGET_ANSWERS: string = `
WITH expired AS (
  DELETE FROM triarch.cache c WHERE c.key = ANY (ARRAY(
    SELECT e.key FROM triarch.cache e, ${NOW} WHERE e.expires <= t.now ORDER BY e.expires LIMIT $2 FOR UPDATE OF e SKIP LOCKED))
  RETURNING c.key),
surplus AS (
  DELETE FROM triarch.cache c WHERE c.key = ANY (ARRAY(
    SELECT e.key FROM triarch.cache e ORDER BY e.expires
    LIMIT greatest(0, least($2, (SELECT count(*) FROM (SELECT 1 FROM triarch.cache LIMIT $3 + $2) s) - $3))
    FOR UPDATE OF e SKIP LOCKED))
  RETURNING c.key)
SELECT (SELECT count(*) FROM (SELECT key FROM expired UNION SELECT key FROM surplus) d)`
export const FORGET_MARKS: string = `
WITH old AS (
  SELECT m.generation FROM triarch.cache_marks m WHERE m.name NOT IN ('', 'floor') ORDER BY m.generation DESC LIMIT 1 OFFSET $1),
floor AS (
  INSERT INTO triarch.cache_marks AS m (name, generation) SELECT 'floor', o.generation FROM old o
  ON CONFLICT (name) DO UPDATE SET generation = excluded.generation RETURNING 1)
DELETE FROM triarch.cache_marks m USING old o WHERE m.generation <= o.generation AND m.name NOT IN ('', 'floor')
RETURNING 1`

export function cacheOf(key: string, row: Row | undefined): CacheRow {
  if (!row) return { answer: null, flying: false }
  const [value, seen, age, fresh, flying] = row as [string | null, number, number, boolean, boolean]
  return { answer: value === null || !fresh ? null : { key, value, seen, age }, flying }
}

export function fillBegun(key: string, row: Row | undefined): FillBegun {
  if (!row) return { begun: false, answer: null }
  const [value, seen, age] = row as [string | null, number, number]
  return { begun: true, answer: value === null ? null : { key, value, seen, age } }
}

export function invalidationsOf(rows: readonly Row[]): Invalidations {
  const all = rows.map(([name, generation]) => ({ name: String(name), generation: Number(generation) }))
  const of = (name: string) => all.find((row) => row.name === name)?.generation ?? 0
  return { last: of(''), floor: of('floor'), marks: all.filter(({ name }) => name !== '' && name !== 'floor') }
}
