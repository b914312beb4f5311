import { FOR_EVER, LEADER, type LeaderRow } from 'triarch/store'
import type { Row } from './query.ts'

const ALIVE = (node: string) => `EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = ${node} AND NOT n.dead)`
const ROWS = `
SELECT substr(l.name, ${LEADER.length + 1}), CASE WHEN l.until > c.now AND ${ALIVE('l.holder')} THEN l.holder END, l.token
FROM (SELECT triarch.clock($1) AS now) c, triarch.leases l`
export const LEADERS_NAMED: string = `
${ROWS} WHERE l.name = ANY (SELECT '${LEADER}' || x.name FROM unnest($2::text[]) AS x (name)) ORDER BY l.name`
export const LEADERS_AFTER: string = `
${ROWS} WHERE l.name > '${LEADER}' || $2::text AND l.name LIKE '${LEADER}%' ORDER BY l.name LIMIT $3`
export const ELECT_FIRST: string = `
INSERT INTO triarch.leases (name, holder, token, until)
SELECT $1, $2, 1, ${FOR_EVER} WHERE ${ALIVE('$2')} ON CONFLICT DO NOTHING RETURNING 1`
/** Skips a row that a transaction of its leader holds, because it is not free yet. */
export const ELECT_NEXT: string = `
WITH free AS (
  SELECT l.name FROM triarch.leases l, (SELECT triarch.clock($4) AS now) c
  WHERE l.name = $1 AND l.token = $3 AND (l.until <= c.now OR NOT ${ALIVE('l.holder')}) AND ${ALIVE('$2')}
  FOR UPDATE OF l SKIP LOCKED)
UPDATE triarch.leases l SET holder = $2, token = l.token + 1, until = ${FOR_EVER}
FROM free f WHERE l.name = f.name RETURNING 1`
export const RESIGN: string = `
UPDATE triarch.leases l SET until = 0 WHERE l.name = $1 AND l.holder = $2 AND l.token = $3 AND l.until > 0 RETURNING 1`
/** Locks the row, so that no node takes over before the transaction ends. */
export const LEADS: string = `
SELECT NULL AS answer, NULL AS transaction FROM triarch.leases l
WHERE l.name = $1 AND l.holder = $2 AND l.token = $3 AND l.until = ${FOR_EVER} FOR SHARE OF l`

export function leaderOf(row: Row): LeaderRow {
  const [name, node, token] = row as [string, string | null, number]
  return { name, node, token }
}
