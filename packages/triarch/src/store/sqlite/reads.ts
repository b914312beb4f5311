import type { ProcessIdentity } from '../../environment/environment.ts'
import { MOST_PARKED } from '../gate.ts'
import { objectOf, runsOf, tagsOf, textsOf } from '../legible.ts'
import type {
  HistoryRecord,
  NodeRow,
  ParkedRow,
  QueuedRow,
  ReplayPage,
  StoreCounts,
  TaskRow,
  TaskVersion,
} from '../port.ts'
import { BRIEF, countedUpTo, MOST_COUNTED } from '../rows.ts'
import type { Database } from './database.ts'
import { type SizedRecord, upTo, withEvents } from './replay.ts'

const SMALL_COLUMNS = `
key, id, workflow, version, priority, status, result, failures, locked_by AS lockedBy, epoch, ready, control, wake_at AS wakeAt,
deadline, submitted_at AS submittedAt, updated_at AS updatedAt, parent, parent_step AS parentStep, tags, error, pause, quarantined`
const brief = (column: string) =>
  `CASE WHEN octet_length(${column}) > ${BRIEF} THEN '@' ELSE ${column} END AS ${column}`
export const BRIEF_COLUMNS: string = `${SMALL_COLUMNS}, ${brief('progress')}, ${brief('output')}, NULL AS outputIn`
export const TASK_COLUMNS: string = `${SMALL_COLUMNS}, progress, output,
CASE WHEN output >= '@' AND output < 'A' THEN (
  SELECT h.events FROM triarch_history h WHERE h.task = triarch_tasks.key AND h.seq = CAST(substr(output, 2, 16) AS INTEGER)) END AS outputIn`
const TASK = `SELECT ${TASK_COLUMNS} FROM triarch_tasks WHERE id = ?`
const MARKS = `
SELECT t.id, concat_ws(' ', t.updated_at, t.status, t.result, t.failures, length(t.progress), length(t.pause)) AS mark,
  t.status = 'stopped' AND t.control = 0 AND t.locked_by IS NULL AS ended
FROM json_each(?) AS wanted CROSS JOIN triarch_tasks t ON t.id = wanted.value`
const KEY = 'SELECT key FROM triarch_tasks WHERE id = ?'
const RECORDS = `
SELECT seq, at, octet_length(events) AS size FROM triarch_history WHERE task = ? AND seq > ? ORDER BY seq LIMIT ? + 0`
const NODES = `
SELECT id, roles, started_at AS startedAt, lease_until AS leaseUntil, runs, place FROM triarch_nodes WHERE dead = 0 ORDER BY id`
const AHEAD = `
SELECT (SELECT count(*) FROM (SELECT 1 FROM triarch_tasks o WHERE o.ready = 1 AND o.workflow = t.workflow AND o.version = t.version
          AND (o.priority > t.priority OR (o.priority = t.priority AND coalesce(o.readied, o.key) < coalesce(t.readied, t.key)))
          LIMIT ${MOST_COUNTED})) AS ahead
FROM triarch_tasks t WHERE t.id = ? AND t.ready = 1`
const QUEUED = `
SELECT w.step, w.operation, w.attempt, w.action, w.agent AS queue, w.locked_by AS node, w.complete_by AS completeBy,
  (SELECT count(*) FROM (SELECT 1 FROM triarch_work o WHERE o.agent = w.agent AND o.locked_by IS NULL AND w.locked_by IS NULL
     AND (o.priority > w.priority OR (o.priority = w.priority AND coalesce(o.place, o.id) < coalesce(w.place, w.id))) LIMIT 1000)) AS ahead
FROM triarch_work w JOIN triarch_tasks t ON t.key = w.task WHERE t.id = ? ORDER BY w.id LIMIT 1000`
const PARKED = `
SELECT DISTINCT t.id AS task, w.agent AS queue, w.action
FROM json_each(?) AS wanted CROSS JOIN triarch_tasks t ON t.id = wanted.value
CROSS JOIN triarch_work w ON w.task = t.key AND w.id IN (
  SELECT q.id FROM triarch_work q WHERE q.task = t.key AND q.locked_by IS NULL ORDER BY q.step LIMIT ${MOST_PARKED})
ORDER BY t.id, w.agent, w.action`
const COUNTS = `
SELECT (SELECT count(*) FROM (SELECT 1 FROM triarch_tasks LIMIT ${MOST_COUNTED})) AS tasks,
  (SELECT count(*) FROM (SELECT 1 FROM triarch_tasks WHERE ready = 1 LIMIT ${MOST_COUNTED})) AS ready,
  (SELECT count(*) FROM (SELECT 1 FROM triarch_work LIMIT ${MOST_COUNTED})) AS work,
  (SELECT count(*) FROM (SELECT 1 FROM triarch_inbox LIMIT ${MOST_COUNTED})) AS inbox`

/** A task row as SQLite returns it. */
export type SqliteTaskRow = Omit<TaskRow, 'tags' | 'ready' | 'control' | 'quarantined' | 'outputIn'> & {
  outputIn: string | null
  quarantined: number
  tags: string | null
  ready: number
  control: number
}

export function taskRow({ outputIn, ...row }: SqliteTaskRow): TaskRow {
  return {
    ...row,
    ...(outputIn !== null && { outputIn }),
    ready: row.ready === 1,
    control: row.control === 1,
    quarantined: row.quarantined === 1,
    tags: row.tags === null ? {} : tagsOf(row.tags),
  }
}

export function task(database: Database, _now: number, id: string): TaskRow | null {
  const row = database.get<SqliteTaskRow>(TASK, id)
  return row ? taskRow(row) : null
}

export function taskVersions(database: Database, _now: number, ids: readonly string[]): TaskVersion[] {
  const rows = database.all<Omit<TaskVersion, 'ended'> & { ended: number }>(MARKS, JSON.stringify(ids))
  return rows.map(({ id, mark, ended }) => ({ id, mark, ended: ended === 1 }))
}

export function records(
  database: Database,
  _now: number,
  id: string,
  after: number,
  most: number | Omit<ReplayPage, 'after'>,
): HistoryRecord[] {
  const { records: limit, bytes } = typeof most === 'number' ? { records: most, bytes: Infinity } : most
  const key = database.get<{ key: number }>(KEY, id)?.key ?? 0
  const found = database.all<SizedRecord>(RECORDS, key, after, limit)
  return withEvents(database, key, upTo(found, { records: limit, bytes }))
}

type StoredNode = Omit<NodeRow, 'roles' | 'runs' | 'place'> & {
  roles: string
  runs: string | null
  place: string | null
}

export function nodes(database: Database): NodeRow[] {
  return database.all<StoredNode>(NODES).map((row) => ({
    ...row,
    roles: textsOf(row.roles),
    runs: runsOf(row.runs),
    place: objectOf<ProcessIdentity>(row.place),
  }))
}

export function queued(database: Database, _now: number, id: string): QueuedRow {
  const ready = database.get<{ ahead: number }>(AHEAD, id)
  const work = database.all<QueuedRow['work'][number]>(QUEUED, id).map((row) => ({ ...row }))
  return { ahead: ready?.ahead ?? null, work }
}

export function parked(database: Database, _now: number, ids: readonly string[]): ParkedRow[] {
  return database.all<ParkedRow>(PARKED, JSON.stringify(ids)).map((row) => ({ ...row }))
}

export function counts(database: Database): StoreCounts {
  return countedUpTo(database.get<StoreCounts>(COUNTS) as StoreCounts)
}

/** Returns a number that differs from the last one if another connection, of this process or another, has committed since. */
export function changes(database: Database): number {
  return database.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0
}
