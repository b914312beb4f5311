import {
  type BacklogRow,
  BRIEF,
  countedUpTo,
  FIRST_WAITING,
  type HeldLock,
  type HistoryRecord,
  type LockRow,
  MOST_COUNTED,
  MOST_PARKED,
  MOST_WAITING,
  type NodeHeartbeats,
  type NodeRow,
  type NodeRuns,
  objectOf,
  type ParkedRow,
  type PollResult,
  type ProcessIdentity,
  type QueuedRow,
  type QueueRow,
  runsOf,
  type StoreCounts,
  type TaskRow,
  type TaskVersion,
  tagsOf,
  textsOf,
} from 'triarch/store'
import type { AddressedRuns } from './node-directory.ts'
import type { Row } from './query.ts'

const columns = [
  ...['key', 'id', 'workflow', 'version', 'priority', 'status', 'result', 'failures', 'locked_by', 'epoch', 'ready'],
  ...[
    'control',
    'wake_at',
    'deadline',
    'submitted_at',
    'updated_at',
    'parent',
    'parent_step',
    'tags',
    'progress',
    'output',
    'error',
    'pause',
    'quarantined',
  ],
]
const names = columns.map((column) => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()))

/** The record that contains a large output, selected in addition to the columns. */
const OUTPUT_IN = `CASE WHEN starts_with(t.output, '@') THEN (SELECT h.events FROM triarch.history h
  WHERE h.task = t.key AND h.seq = substring(t.output FROM '^@(\\d{1,15})\\.')::bigint) END AS output_in`
export const TASK_COLUMNS: string = [...columns.map((column) => `t.${column}`), OUTPUT_IN].join(', ')
/** The columns of TASK_COLUMNS, without large values. */
export const BRIEF_COLUMNS: string = [
  ...columns.map((column) =>
    column === 'progress' || column === 'output'
      ? `CASE WHEN octet_length(t.${column}) > ${BRIEF} THEN '@' ELSE t.${column} END AS ${column}`
      : `t.${column}`,
  ),
  'NULL::text AS output_in',
].join(', ')
export const TASK: string = `SELECT ${TASK_COLUMNS} FROM triarch.tasks t WHERE t.id = $1`
export const MARKS = `
SELECT t.id, concat_ws(' ', t.updated_at, t.status, t.result, t.failures, length(t.progress), length(t.pause)),
  t.status = 'stopped' AND NOT t.control AND t.locked_by IS NULL
FROM triarch.tasks t WHERE t.id = ANY ($1)`
/** Selects records until their size reaches the bound; the length is known without reading a large text. */
export const RECORDS = `
SELECT p.seq, p.at, p.events FROM (
  SELECT r.*, sum(octet_length(r.events)) OVER (ORDER BY r.seq) - octet_length(r.events) AS before FROM (
    SELECT h.seq, h.at, h.events FROM triarch.history h
    WHERE h.task = (SELECT t.key FROM triarch.tasks t WHERE t.id = $1) AND h.seq > $2 ORDER BY h.seq LIMIT $3) r) p
WHERE p.before < $4 ORDER BY p.seq`
/** Records before the base may have been dropped. */
export const LOST = `
SELECT l.id, l.last, false FROM (
  SELECT m.id, (SELECT max(h.seq) FROM triarch.history h WHERE h.task = t.key) AS last
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS m (id, key, seq)
  LEFT JOIN triarch.tasks t ON t.key = m.key AND t.id = m.id
  WHERE t.key IS NULL
    OR (t.base_seq <= m.seq AND NOT EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = t.key AND h.seq = m.seq))) l
UNION ALL
-- A reply takes the place of its request, and stays until a record of it is written: who asks knows of that. A later record
-- says nothing, for it may be of something else.
SELECT m.id, m.seq, true
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[])
  AS m (id, key, seq, step, operation, attempt)
JOIN triarch.tasks t ON t.key = m.key AND t.id = m.id
WHERE m.step IS NOT NULL
  AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = m.key AND h.seq = m.seq)
  AND NOT EXISTS (SELECT 1 FROM triarch.work w
    WHERE w.task = m.key AND w.step = m.step AND w.operation = m.operation AND w.attempt = m.attempt)
  AND NOT EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = m.key AND i.kind <> 'kept')`
export const OWNED = 'SELECT key, id, epoch FROM triarch.tasks WHERE locked_by = $1 AND key > $2 ORDER BY key LIMIT $3'
export const REPLAY = `
SELECT p.seq, p.at, p.events FROM triarch.page_of((SELECT t.key FROM triarch.tasks t WHERE t.id = $1), $2, $3, $4) p`
export const NODES =
  'SELECT id, roles, started_at, lease_until, runs, place FROM triarch.nodes WHERE NOT dead ORDER BY id'
export const HEARTBEATS = `
SELECT c.now, l.holder, l.until - c.now, n.id, triarch.mark(n), n.lease, n.roles, n.lease_until <= c.now
FROM (SELECT triarch.clock($1) AS now) c LEFT JOIN triarch.leases l ON l.name = $2 AND l.until > c.now
LEFT JOIN triarch.nodes n ON NOT n.dead ORDER BY n.id`
export const AHEAD: string = `
SELECT (SELECT count(*) FROM (SELECT 1 FROM triarch.tasks o
  WHERE o.ready AND o.workflow = t.workflow AND o.version = t.version AND (o.priority > t.priority
    OR (o.priority = t.priority AND coalesce(o.readied, o.key) < coalesce(t.readied, t.key))) LIMIT ${MOST_COUNTED}) c)
FROM triarch.tasks t WHERE t.id = $1 AND t.ready`
export const ATTEMPTS = 'SELECT id, step, operation, attempt FROM triarch.work WHERE id = ANY ($1)'
/** Moves requests from one node to another. Repeating it returns the same. */
export const ADOPT_WORK = `
UPDATE triarch.work w SET locked_by = a.heir, heartbeat_by = triarch.clock($1) + w.heartbeat_within
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[])
  WITH ORDINALITY AS a (work, node, heir, task, step, operation, attempt, place)
JOIN triarch.tasks t ON t.id = a.task
WHERE w.task = t.key AND w.step = a.step AND w.operation = a.operation AND w.attempt = a.attempt AND w.id = a.work
  AND w.locked_by IN (a.node, a.heir)
RETURNING a.place, w.agent, w.request, w.complete_by, w.heartbeat_within`
export const QUEUED = `
SELECT w.step, w.operation, w.attempt, w.action, w.agent, w.locked_by, w.complete_by,
  (SELECT count(*) FROM (SELECT 1 FROM triarch.work o WHERE o.agent = w.agent AND o.locked_by IS NULL AND w.locked_by IS NULL
     AND (o.priority > w.priority OR (o.priority = w.priority AND coalesce(o.place, o.id) < coalesce(w.place, w.id))) LIMIT 1000) c)
FROM triarch.work w JOIN triarch.tasks t ON t.key = w.task WHERE t.id = $1 ORDER BY w.id LIMIT 1000`
export const PARKED: string = `
SELECT DISTINCT t.id, w.agent, w.action FROM triarch.tasks t CROSS JOIN LATERAL (
  SELECT q.agent, q.action FROM triarch.work q WHERE q.task = t.key AND q.locked_by IS NULL ORDER BY q.task, q.step LIMIT ${MOST_PARKED}) w
WHERE t.id = ANY ($1::text[]) ORDER BY t.id, w.agent, w.action`
export const LOCKS_OF_TASK = `
SELECT l.name, t.id, l.step, l.held, l.since,
  (SELECT count(*) FROM (SELECT 1 FROM triarch.locks o WHERE o.name = l.name AND NOT l.held
     AND (o.held OR o.priority > l.priority OR (o.priority = l.priority AND o.id < l.id)) LIMIT 10000) c)
FROM triarch.locks l JOIN triarch.tasks t ON t.key = l.task WHERE t.id = $1 ORDER BY l.step`
/** The position of a request of a name is its place in the answer. */
export const LOCKS_OF_NAME = `
SELECT l.name, t.id, l.step, l.held, l.since, row_number() OVER (ORDER BY l.held DESC, l.priority DESC, l.id) - 1
FROM (SELECT * FROM triarch.locks o WHERE o.name = $1 ORDER BY o.held DESC, o.priority DESC, o.id LIMIT 1000) l
JOIN triarch.tasks t ON t.key = l.task ORDER BY l.held DESC, l.priority DESC, l.id`
export const HELD: string = `
SELECT l.name, t.id, l.since, l.fence,
  (SELECT count(*) FROM (SELECT 1 FROM triarch.locks w WHERE w.name = l.name AND NOT w.held LIMIT ${MOST_WAITING}) c),
  (SELECT json_agg(json_build_object('task', n.id, 'since', n.since) ORDER BY n.place)::text FROM (
    SELECT i.id, w.since, row_number() OVER (ORDER BY w.held DESC, w.priority DESC, w.id) AS place
    FROM triarch.locks w JOIN triarch.tasks i ON i.key = w.task WHERE w.name = l.name AND NOT w.held
    ORDER BY w.held DESC, w.priority DESC, w.id LIMIT ${FIRST_WAITING}) n)
FROM triarch.locks l JOIN triarch.tasks t ON t.key = l.task WHERE l.held AND l.name > $1 ORDER BY l.name LIMIT $2`
/** Steps from name to name, however many requests each has. */
export const QUEUES: string = `
WITH RECURSIVE a AS (
  (SELECT w.agent FROM triarch.work w WHERE w.locked_by IS NULL AND w.agent > $1 ORDER BY w.agent LIMIT 1)
  UNION ALL
  SELECT (SELECT w.agent FROM triarch.work w WHERE w.locked_by IS NULL AND w.agent > a.agent ORDER BY w.agent LIMIT 1)
  FROM a WHERE a.agent IS NOT NULL)
SELECT n.agent, q.depth, t.id, q.step FROM (SELECT a.agent FROM a WHERE a.agent IS NOT NULL LIMIT $2) n
CROSS JOIN LATERAL (
  SELECT count(*) AS depth, (array_agg(w.task ORDER BY w.id))[1] AS task, (array_agg(w.step ORDER BY w.id))[1] AS step
  FROM (SELECT o.id, o.task, o.step FROM triarch.work o WHERE o.agent = n.agent AND o.locked_by IS NULL
    ORDER BY o.priority DESC, coalesce(o.place, o.id) LIMIT ${MOST_COUNTED}) w) q
LEFT JOIN triarch.tasks t ON t.key = q.task ORDER BY n.agent`
/** Steps from one version of a workflow to the next, however many tasks of each are ready. */
export const BACKLOGS: string = `
WITH RECURSIVE v AS (
  (SELECT t.workflow, t.version, 1 AS n FROM triarch.tasks t WHERE t.ready ORDER BY t.workflow, t.version LIMIT 1)
  UNION ALL
  SELECT x.workflow, x.version, v.n + 1 FROM v CROSS JOIN LATERAL (
    SELECT t.workflow, t.version FROM triarch.tasks t WHERE t.ready AND (t.workflow, t.version) > (v.workflow, v.version)
    ORDER BY t.workflow, t.version LIMIT 1) x WHERE v.n < $1)
SELECT v.workflow, v.version, q.depth, o.updated_at FROM v
CROSS JOIN LATERAL (
  SELECT count(*) AS depth, (array_agg(w.key ORDER BY w.place))[1] AS key
  FROM (SELECT t.key, coalesce(t.readied, t.key) AS place FROM triarch.tasks t
    WHERE t.ready AND t.workflow = v.workflow AND t.version = v.version
    ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT ${MOST_COUNTED}) w) q
JOIN triarch.tasks o ON o.key = q.key ORDER BY v.workflow, v.version`
export const READY: string = `
SELECT count(*) FROM (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.workflow = $1 LIMIT $2) c`
/** Counts the requests in the agent's own queue and in those of its keys. */
export const QUEUED_FOR: string = `
SELECT count(*) FROM (
  SELECT 1 FROM triarch.work w WHERE w.locked_by IS NULL AND w.agent = $1
  UNION ALL SELECT 1 FROM triarch.work w WHERE w.locked_by IS NULL AND w.agent > $2 AND w.agent < $3 LIMIT $4) c`
export const COUNTS: string = `
SELECT (SELECT count(*) FROM (SELECT 1 FROM triarch.tasks ORDER BY key LIMIT ${MOST_COUNTED}) c),
  (SELECT count(*) FROM (SELECT 1 FROM triarch.tasks WHERE ready ORDER BY workflow, version LIMIT ${MOST_COUNTED}) c),
  (SELECT count(*) FROM (SELECT 1 FROM triarch.work ORDER BY task LIMIT ${MOST_COUNTED}) c),
  (SELECT count(*) FROM (SELECT 1 FROM triarch.inbox ORDER BY task LIMIT ${MOST_COUNTED}) c)`
export const NEXT_WAKE = 'SELECT wake_at FROM triarch.tasks WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1'

export function taskOf(row: Row): TaskRow {
  const task = Object.fromEntries(names.map((name, index) => [name, row[index]])) as unknown as TaskRow
  const tags = row[names.indexOf('tags')]
  const outputIn = row[names.length] as string | null
  return { ...task, tags: tagsOf(tags), ...(outputIn !== null && { outputIn }) }
}

export function markOf(row: Row): TaskVersion {
  const [id, mark, ended] = row as [string, string, boolean]
  return { id, mark, ended }
}

type LookRow = [number, boolean, boolean, boolean, boolean, number | null, number, string, boolean]

export function lookOf(row: Row | undefined): PollResult {
  const [now, mail, tasks, work, vacant, nextWake, living, settings, rests] = row as LookRow
  return { now, mail, tasks, work, vacant, nextWake, living, settings, rests }
}

export function recordOf(row: Row): HistoryRecord {
  const [seq, at, events] = row as [number, number, string]
  return { seq, at, events }
}

export function nodeOf(row: Row): NodeRow {
  const [id, roles, startedAt, leaseUntil, runs, place] = row as [string, string, number, number, ...(string | null)[]]
  return {
    ...{ id, roles: textsOf(roles), startedAt, leaseUntil },
    runs: shownRuns(runsOf(runs)),
    place: objectOf<ProcessIdentity>(place),
  }
}

export function heartbeatsOf(rows: readonly Row[]): NodeHeartbeats {
  const [now = 0, holder = null, left] = (rows[0] ?? []) as [number?, (string | null)?, number?]
  const nodes = rows.map((row) => row.slice(3) as [string | null, string, number, string, boolean])
  return {
    now,
    nodes: nodes.flatMap(([id, mark, lease, roles, late]) =>
      id === null ? [] : [{ id, mark, lease, roles: textsOf(roles), late }],
    ),
    term: holder === null ? null : { holder, left: left ?? 0 },
  }
}

/** Returns what the node runs without the fields that are for stores only. */
function shownRuns(said: AddressedRuns | null): NodeRuns | null {
  if (said === null) return null
  const { own, ...shown } = said
  return shown
}

export function queuedOf(row: Row): QueuedRow['work'][number] {
  const [step, operation, attempt, action, queue, node, completeBy, ahead] = row
  return { step, operation, attempt, action, queue, node, completeBy, ahead } as QueuedRow['work'][number]
}

export function parkedOf(row: Row): ParkedRow {
  const [task, queue, action] = row as [string, string, string]
  return { task, queue, action }
}

export function lockOf(row: Row): LockRow {
  const [name, task, step, held, since, ahead] = row as [string, string, number, boolean, number, number]
  return { name, task, step, held, since, ahead }
}

export function heldOf(row: Row): HeldLock {
  const [name, task, since, fence, waiting, next] = row as [
    string,
    string,
    number,
    number | null,
    number,
    string | null,
  ]
  return { name, task, since, fence, waiting, next: next === null ? [] : (JSON.parse(next) as HeldLock['next']) }
}

export function queueOf(row: Row): QueueRow {
  const [agent, depth, task, step] = row as [string, number, string | null, number]
  return { agent, depth, oldest: task === null ? null : { task, step } }
}

export function backlogOf(row: Row): BacklogRow {
  const [workflow, version, depth, since] = row as [string, string, number, number]
  return { workflow, version, depth, since }
}

export function countsOf(row: Row | undefined): StoreCounts {
  const [tasks = 0, ready = 0, work = 0, inbox = 0] = (row ?? []) as number[]
  return countedUpTo({ tasks, ready, work, inbox })
}
