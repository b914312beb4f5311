import type { BreakerKind, BreakerRow } from 'triarch/store'
import type { Row } from './query.ts'

const WAITING = `(SELECT count(*) FROM (SELECT 1 FROM triarch.work w WHERE w.agent = n.name AND w.locked_by IS NULL LIMIT $1) c)`
const ROWS = `SELECT n.kind, n.name, coalesce(b.version, 0), b.state, CASE WHEN n.kind = 'breaker' THEN ${WAITING} ELSE 0 END`
const BESIDE = 'LEFT JOIN triarch.breakers b ON b.kind = n.kind AND b.name = n.name'
/** Finds queues by stepping from one name to the next. */
export const BREAKERS_OF: string = `
WITH RECURSIVE lanes (name) AS (
  SELECT min(w.agent) FROM triarch.work w
  WHERE w.locked_by IS NULL AND w.agent > greatest($3 COLLATE "C", $5 COLLATE "C") AND w.agent < $6
  UNION ALL
  SELECT (SELECT min(w.agent) FROM triarch.work w WHERE w.locked_by IS NULL AND w.agent > l.name AND w.agent < $6)
  FROM lanes l WHERE l.name IS NOT NULL),
names (name) AS (
  SELECT l.name FROM (SELECT x.name FROM lanes x LIMIT $4) l WHERE l.name IS NOT NULL
  UNION SELECT $2::text COLLATE "C" WHERE $2::text COLLATE "C" > $3
  UNION SELECT k.name FROM triarch.breakers k WHERE k.kind = 'breaker' AND k.name > greatest($3 COLLATE "C", $5 COLLATE "C") AND k.name < $6)
${ROWS} FROM (SELECT 'breaker'::text COLLATE "C" AS kind, x.name FROM names x) n ${BESIDE} ORDER BY n.name LIMIT $4`
export const BREAKERS_NAMED: string = `
${ROWS} FROM (SELECT DISTINCT x.kind COLLATE "C" AS kind, x.name COLLATE "C" AS name FROM unnest($2::text[], $3::text[]) AS x (kind, name)) n
${BESIDE} ORDER BY n.kind, n.name`
const UNDER = (where: string) => `
(SELECT count(*) FROM (SELECT 1 FROM triarch.work w WHERE ${where} AND w.locked_by IS NULL
  AND (n.action IS NULL OR w.action = n.action) LIMIT $1) c)`
export const RATE_LIMITS: string = `
SELECT 'rate', n.name, coalesce(b.version, 0), b.state,
  least($1, ${UNDER('w.agent = n.queue')} + CASE WHEN n.above IS NULL THEN 0 ELSE ${UNDER('w.agent > n.above AND w.agent < n.below')} END)
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS n (name, queue, above, below, action)
LEFT JOIN triarch.breakers b ON b.kind = 'rate' AND b.name = n.name COLLATE "C" ORDER BY n.name COLLATE "C"`
/** Whether any service has a cooldown. */
export const REST: string = `EXISTS (SELECT 1 FROM triarch.breakers b WHERE b.kind = 'rest')`
export const BREAKERS_AFTER: string = `
${ROWS} FROM triarch.breakers n ${BESIDE} WHERE n.kind = $2 AND n.name > $3 ORDER BY n.name LIMIT $4`
export const CREATE_BREAKER =
  'INSERT INTO triarch.breakers (kind, name, version, state) VALUES ($1, $2, 1, $3) ON CONFLICT DO NOTHING RETURNING 1'
export const UPDATE_BREAKER = `
UPDATE triarch.breakers b SET version = b.version + 1, state = $4 WHERE b.kind = $1 AND b.name = $2 AND b.version = $3 RETURNING 1`
export const DROP_BREAKER =
  'DELETE FROM triarch.breakers b WHERE b.kind = $1 AND b.name = $2 AND b.version = $3 RETURNING 1'

export function breakerOf(row: Row): BreakerRow {
  const [kind, name, version, state, waiting] = row as [BreakerKind, string, number, string | null, number]
  return { kind, name, version, state, waiting }
}
