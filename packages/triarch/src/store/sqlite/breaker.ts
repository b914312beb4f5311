import { type BreakerQuery, type BreakerRow, type BreakerWrite, endOfKeys, KEYED } from '../breaker.ts'
import { rateLine } from '../rate.ts'
import { withAct } from './audit.ts'
import type { Database } from './database.ts'

const WAITING = `(SELECT count(*) FROM (SELECT 1 FROM triarch_work w WHERE w.agent = n.name AND w.locked_by IS NULL LIMIT ?1 + 0))`
const ROWS = `
SELECT n.kind, n.name, coalesce(b.version, 0) AS version, b.state, iif(n.kind = 'breaker', ${WAITING}, 0) AS waiting`
const BESIDE = 'LEFT JOIN triarch_breakers b ON b.kind = n.kind AND b.name = n.name'
/** Finds queues by stepping from one name to the next. */
const OF_AGENT = `
WITH RECURSIVE lanes (name) AS (
  SELECT min(agent) FROM triarch_work WHERE locked_by IS NULL AND agent > max(?3, ?5) AND agent < ?6
  UNION ALL
  SELECT (SELECT min(agent) FROM triarch_work WHERE locked_by IS NULL AND agent > l.name AND agent < ?6)
  FROM lanes l WHERE l.name IS NOT NULL LIMIT ?4 + 0),
names (name) AS (
  SELECT name FROM lanes WHERE name IS NOT NULL
  UNION SELECT ?2 WHERE ?2 > ?3
  UNION SELECT name FROM triarch_breakers WHERE kind = 'breaker' AND name > max(?3, ?5) AND name < ?6)
${ROWS} FROM (SELECT 'breaker' AS kind, name FROM names) n ${BESIDE} ORDER BY n.name LIMIT ?4 + 0`
const NAMED = `
${ROWS} FROM (SELECT DISTINCT value ->> 'kind' AS kind, value ->> 'name' AS name FROM json_each(?2)) n
${BESIDE} ORDER BY n.kind, n.name`
const UNDER = (where: string) => `
(SELECT count(*) FROM (SELECT 1 FROM triarch_work w WHERE ${where} AND w.locked_by IS NULL
  AND (n.action IS NULL OR w.action = n.action) LIMIT ?1 + 0))`
const LIMITS = `
SELECT 'rate' AS kind, n.name, coalesce(b.version, 0) AS version, b.state,
  min(?1, ${UNDER('w.agent = n.queue')} + iif(n.above IS NULL, 0, ${UNDER('w.agent > n.above AND w.agent < n.below')})) AS waiting
FROM (SELECT value ->> 'name' AS name, value ->> 'queue' AS queue, value ->> 'above' AS above, value ->> 'below' AS below,
  value ->> 'action' AS action FROM json_each(?2)) n
LEFT JOIN triarch_breakers b ON b.kind = 'rate' AND b.name = n.name ORDER BY n.name`
const AFTER = `${ROWS} FROM triarch_breakers n ${BESIDE} WHERE n.kind = ?2 AND n.name > ?3 ORDER BY n.name LIMIT ?4 + 0`
const CREATE = 'INSERT INTO triarch_breakers (kind, name, version, state) VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING'
const UPDATE =
  'UPDATE triarch_breakers SET version = version + 1, state = ? WHERE kind = ? AND name = ? AND version = ?'
const DROP = 'DELETE FROM triarch_breakers WHERE kind = ? AND name = ? AND version = ?'

export function breakers(database: Database, _now: number, query: BreakerQuery): BreakerRow[] {
  const { count } = query
  const rows =
    'agent' in query
      ? database.all<BreakerRow>(
          OF_AGENT,
          ...[count, query.agent, query.after, query.limit, query.agent + KEYED, endOfKeys(query.agent)],
        )
      : 'refs' in query
        ? database.all<BreakerRow>(NAMED, count, JSON.stringify(query.refs))
        : 'limits' in query
          ? database.all<BreakerRow>(LIMITS, count, JSON.stringify([...new Set(query.limits)].map(rateLine)))
          : database.all<BreakerRow>(AFTER, count, query.kind, query.after, query.limit)
  return rows.map((row) => ({ ...row }))
}

export function writeBreaker(database: Database, _now: number, write: BreakerWrite): boolean {
  return withAct(database, write, Boolean, () => written(database, write))
}

function written(database: Database, { kind, name, expected, state }: BreakerWrite): boolean {
  if (state === null) return database.run(DROP, kind, name, expected) > 0
  if (expected === 0) return database.run(CREATE, kind, name, state) > 0
  return database.run(UPDATE, state, kind, name, expected) > 0
}
