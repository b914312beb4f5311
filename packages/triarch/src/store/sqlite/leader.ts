import { type Candidacy, FOR_EVER, LEADER, type LeaderQuery, type LeaderRow, type Leading } from '../leader.ts'
import type { Database } from './database.ts'

const ALIVE = (node: string) => `EXISTS (SELECT 1 FROM triarch_nodes n WHERE n.id = ${node} AND n.dead = 0)`
const ROWS = `
SELECT substr(l.name, ${LEADER.length + 1}) AS name, l.token,
  CASE WHEN l.until > ?1 AND ${ALIVE('l.holder')} THEN l.holder END AS node
FROM triarch_leases l`
const NAMED = `${ROWS} WHERE l.name IN (SELECT '${LEADER}' || value FROM json_each(?2)) ORDER BY l.name`
const AFTER = `${ROWS} WHERE l.name > '${LEADER}' || ?2 AND l.name GLOB '${LEADER}*' ORDER BY l.name LIMIT ?3 + 0`
const FIRST = `
INSERT INTO triarch_leases (name, holder, token, until) SELECT ?1, ?2, 1, ${FOR_EVER} WHERE ${ALIVE('?2')}
ON CONFLICT DO NOTHING`
const NEXT = `
UPDATE triarch_leases AS l SET holder = ?2, token = token + 1, until = ${FOR_EVER}
WHERE l.name = ?1 AND l.token = ?3 AND (l.until <= ?4 OR NOT ${ALIVE('l.holder')}) AND ${ALIVE('?2')}`
const RESIGN = `
UPDATE triarch_leases SET until = 0 WHERE name = ? AND holder = ? AND token = ? AND until > 0`
const LEADS = `SELECT 1 FROM triarch_leases WHERE name = ? AND holder = ? AND token = ? AND until = ${FOR_EVER}`

export function leaders(database: Database, now: number, query: LeaderQuery): LeaderRow[] {
  const rows =
    'names' in query
      ? database.all<LeaderRow>(NAMED, now, JSON.stringify(query.names))
      : database.all<LeaderRow>(AFTER, now, query.after, query.limit)
  return rows.map((row) => ({ ...row }))
}

export function elect(database: Database, now: number, { name, node, expected }: Candidacy): boolean {
  if (expected === 0) return database.run(FIRST, LEADER + name, node) > 0
  return database.run(NEXT, LEADER + name, node, expected, now) > 0
}

export function resign(database: Database, _now: number, { name, node, token }: Leading): boolean {
  return database.run(RESIGN, LEADER + name, node, token) > 0
}

/** Whether the node still leads, so that no other can have taken over. */
export function isLed(database: Database, { name, node, token }: Leading): boolean {
  return database.get(LEADS, LEADER + name, node, token) !== undefined
}
