import type { Audited } from '../audit.ts'
import {
  type FollowedTask,
  type RecountRow,
  recountOf,
  TALLIES_DROPPED,
  TALLY_COLUMNS,
  type Tally,
  type TallyPage,
  type TallyQuery,
  type TallyWrite,
  type UncountedPage,
  type UncountedRequest,
} from '../statistics.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'
import { leads } from './sweep.ts'

const COUNTING = 'SELECT settled FROM triarch_counting'
const ANEW = 'SELECT 1 FROM triarch_counting WHERE anew = 1'
const STANDING = `
SELECT as_of AS asOf, anew, since, goal, (SELECT max(task) FROM triarch_followed) AS reached, (SELECT min(key) FROM triarch_tasks) AS first
FROM triarch_counting`
const RECOUNT = `
INSERT INTO triarch_counting (one, settled, anew, since, goal) SELECT 1, 0, 1, ?, coalesce(max(key), 0) FROM triarch_tasks WHERE true
ON CONFLICT DO UPDATE SET anew = 1, since = excluded.since, goal = excluded.goal`
const UNFOLLOW =
  'DELETE FROM triarch_followed WHERE task IN (SELECT task FROM triarch_followed ORDER BY task LIMIT ? + 0)'
const SHED = `
DELETE FROM triarch_statistics WHERE (${TALLY_COLUMNS.join(', ')}) IN (
  SELECT ${TALLY_COLUMNS.join(', ')} FROM triarch_statistics LIMIT ? + 0)`
const DROPPED = 'UPDATE triarch_counting SET anew = 0, settled = 0, as_of = NULL'
const NEWER = 'SELECT 1 FROM triarch_tasks WHERE key > ? LIMIT 1'
// SQLite has one writer, so a task that is committed later has a higher key.
const DISCOVER = `
INSERT INTO triarch_followed (task) SELECT key FROM triarch_tasks WHERE key > ? ORDER BY key LIMIT ? + 0 ON CONFLICT DO NOTHING`
const SETTLE = `
INSERT INTO triarch_counting (one, settled) SELECT 1, coalesce(max(task), 0) FROM triarch_followed WHERE true
ON CONFLICT DO UPDATE SET settled = max(settled, excluded.settled)`
const AUDIT = `
SELECT f.task, t.key IS NULL AS gone,
  f.done = 1 AND EXISTS (SELECT 1 FROM triarch_history h WHERE h.task = f.task AND h.seq > f.seq) AS open
FROM triarch_followed f LEFT JOIN triarch_tasks t ON t.key = f.task WHERE f.task > ? ORDER BY f.task LIMIT ? + 0`
const GONE = 'DELETE FROM triarch_followed WHERE task = ?'
const REOPEN = 'UPDATE triarch_followed SET done = 0 WHERE task = ?'
const LOOK = 'SELECT task FROM triarch_followed WHERE done = 0 AND task > ? ORDER BY task LIMIT ? + 0'
const FOUND = `
SELECT f.task AS key, t.id, f.seq, f.state FROM triarch_followed f JOIN triarch_tasks t ON t.key = f.task
WHERE f.done = 0 AND f.task > ? AND f.task <= ?
  AND EXISTS (SELECT 1 FROM triarch_history h WHERE h.task = f.task AND h.seq > f.seq)
ORDER BY f.task LIMIT ? + 0`
const COUNTED = 'UPDATE triarch_followed SET seq = ?, state = ?, done = ? WHERE task = ? AND seq = ?'
const ADD = `
INSERT INTO triarch_statistics (${TALLY_COLUMNS.join(', ')}, count, ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count, ms = ms + excluded.ms`
const AS_OF = 'UPDATE triarch_counting SET as_of = ?'
const DROP = `
DELETE FROM triarch_statistics WHERE (${TALLY_COLUMNS.join(', ')}) IN (
  SELECT ${TALLY_COLUMNS.join(', ')} FROM triarch_statistics WHERE hour < ? LIMIT ${TALLIES_DROPPED})`
const FILTERS = ['kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const
const GROUPS = TALLY_COLUMNS.map((_, index) => index + 1).join(', ')
const columns = TALLY_COLUMNS.map((it) => {
  const none = it === 'hour' || it === 'bucket' ? '0' : "''"
  return `CASE WHEN ?3 LIKE '% ${it} %' THEN ${it} ELSE ${none} END AS ${it}`
})
const TALLIES = `
SELECT ${columns.join(', ')}, sum(count) AS count, sum(ms) AS ms FROM triarch_statistics s
WHERE hour >= ?1 AND hour < ?2 AND NOT EXISTS (${ANEW}) ${FILTERS.map((it, index) => `AND (?${index + 5} IS NULL OR s.${it} = ?${index + 5})`).join(' ')}
  AND (?${FILTERS.length + 5} = 0 OR s.outcome <> 'submitted')
GROUP BY ${GROUPS} ORDER BY ${GROUPS} LIMIT ?4 + 0`

export function readUncounted(database: Database, now: number, request: UncountedRequest): UncountedPage | null {
  const { after, look, limit, audit } = request
  if (!leads(database, request, now)) return null
  if (database.get(ANEW)) {
    dropSome(database, look)
    return { at: now, tasks: [], next: null, audited: 0, behind: true, anew: true }
  }
  const behind = after === 0 && discover(database, look)
  const audited = after === 0 ? auditFrom(database, audit, look) : audit
  const looked = database.all<{ task: number }>(LOOK, after, look)
  const last = looked.at(-1)?.task ?? after
  const tasks = database.all<FollowedTask>(FOUND, after, last, limit).map((it) => ({ ...it }))
  const end = tasks.length === limit ? (tasks.at(-1)?.key ?? last) : last
  const over = tasks.length < limit && looked.length < look
  return { at: now, tasks, next: over ? null : end, audited, behind }
}

/** Follows new tasks; returns whether there may be more. Takes no write lock if there are none. */
function discover(database: Database, most: number): boolean {
  const settled = database.get<{ settled: number }>(COUNTING)?.settled ?? 0
  if (!database.get(NEWER, settled)) return false
  return database.transaction(() => {
    const found = database.run(DISCOVER, settled, most)
    database.run(SETTLE)
    return found >= most
  })
}

function auditFrom(database: Database, from: number, most: number): number {
  const rows = database.all<{ task: number; gone: number; open: number }>(AUDIT, from, most)
  const changed = rows.filter(({ gone, open }) => gone === 1 || open === 1)
  if (changed.length > 0)
    database.transaction(() => {
      for (const { task, gone } of changed) database.run(gone === 1 ? GONE : REOPEN, task)
    })
  return rows.length < most ? 0 : (rows.at(-1)?.task ?? 0)
}

export function tally(database: Database, now: number, write: TallyWrite): boolean {
  const { tasks, tallies: added, asOf, keepFrom } = write
  database.run('BEGIN IMMEDIATE')
  try {
    const fits =
      leads(database, write, now) &&
      tasks.every(({ key, from, seq, state, done }) => database.run(COUNTED, seq, state, done ? 1 : 0, key, from) === 1)
    if (fits) {
      for (const one of added) database.run(ADD, ...TALLY_COLUMNS.map((it) => one[it]), one.count, one.ms)
      if (asOf !== null) {
        database.run(SETTLE)
        database.run(AS_OF, asOf)
      }
      database.run(DROP, keepFrom)
    }
    database.run(fits ? 'COMMIT' : 'ROLLBACK')
    return fits
  } catch (error) {
    if (database.connection.isTransaction) database.run('ROLLBACK')
    throw error
  }
}

export function recount(database: Database, now: number, acted: Audited | null = null): void {
  database.transaction(() => {
    database.run(RECOUNT, now)
    if (acted?.audit) keepAct(database, acted.audit)
  })
}

/** Drops a part of the tallies. */
function dropSome(database: Database, most: number): void {
  database.transaction(() => {
    const gone = database.run(UNFOLLOW, most)
    const shed = database.run(SHED, most)
    if (gone < most && shed < most) database.run(DROPPED)
  })
}

export function tallies(database: Database, now: number, { from, to, where, once, by, limit }: TallyQuery): TallyPage {
  const told = ` ${by.join(' ')} `
  const filters = FILTERS.map((it) => where[it] ?? null)
  const found = database.all<Tally>(TALLIES, from, to, told, limit, ...filters, once ? 1 : 0)
  const row = database.get<Omit<RecountRow, 'anew'> & { anew: number }>(STANDING)
  const recount = row ? recountOf({ ...row, anew: row.anew === 1 }) : null
  const asOf = row?.anew === 0 ? row.asOf : null
  return { tallies: found.map((it) => ({ ...it })), asOf, at: now, recount }
}
