import { endOfKeys, KEYED } from '../breaker.ts'
import {
  type BacklogRow,
  FIRST_WAITING,
  type HeldLock,
  type LineQuery,
  MOST_BACKLOGS,
  MOST_WAITING,
  type NamePage,
  type QueueRow,
} from '../gate.ts'
import { MOST_COUNTED } from '../rows.ts'
import type { Database } from './database.ts'

// Queues as they are shown to operators: for locks, for agents, and of ready tasks.

export const HELD: string = `
SELECT l.name, t.id AS task, l.since, l.fence,
  (SELECT count(*) FROM (SELECT 1 FROM triarch_locks w WHERE w.name = l.name AND w.held = 0 LIMIT ${MOST_WAITING})) AS waiting
FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task WHERE l.held = 1 AND l.name > ? ORDER BY l.name LIMIT ? + 0`
export const NEXT: string = `
SELECT t.id AS task, l.since FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ? AND l.held = 0 ORDER BY l.priority DESC, l.id LIMIT ${FIRST_WAITING}`
/** Steps from name to name, however many requests each has. */
export const QUEUED_AGENT: string = `
SELECT agent FROM triarch_work WHERE locked_by IS NULL AND agent > ? ORDER BY agent LIMIT 1`
export const QUEUE: string = `
SELECT count(*) AS depth, min(id) AS first FROM (
  SELECT id FROM triarch_work WHERE locked_by IS NULL AND agent = ? ORDER BY priority DESC, coalesce(place, id) LIMIT ${MOST_COUNTED})`
/** Steps from one version of a workflow to the next, however many tasks of each are ready. */
export const READY_VERSION: string = `
SELECT workflow, version FROM triarch_tasks WHERE ready = 1 AND (workflow, version) > (?, ?) ORDER BY workflow, version LIMIT 1`
/** `key` is that of the row with the lowest place. */
export const BACKLOG: string = `
SELECT count(*) AS depth, min(place), key FROM (
  SELECT coalesce(readied, key) AS place, key FROM triarch_tasks WHERE ready = 1 AND workflow = ? AND version = ?
  ORDER BY priority DESC, coalesce(readied, key) LIMIT ${MOST_COUNTED})`
export const READY: string = `
SELECT count(*) AS waiting FROM (SELECT 1 FROM triarch_tasks WHERE ready = 1 AND workflow = ? LIMIT ? + 0)`
/** Counts the requests in the agent's own queue and in those of its keys. */
export const QUEUED: string = `
SELECT count(*) AS waiting FROM (
  SELECT 1 FROM triarch_work WHERE locked_by IS NULL AND agent = ?1
  UNION ALL SELECT 1 FROM triarch_work WHERE locked_by IS NULL AND agent > ?2 AND agent < ?3 LIMIT ?4 + 0)`
const SINCE = 'SELECT updated_at AS since FROM triarch_tasks WHERE key = ?'
const REQUEST = 'SELECT t.id AS task, w.step FROM triarch_work w JOIN triarch_tasks t ON t.key = w.task WHERE w.id = ?'

export function heldLocks(database: Database, _now: number, { after, limit }: NamePage): HeldLock[] {
  const rows = database.all<Omit<HeldLock, 'next'>>(HELD, after, limit)
  return rows.map((row) => {
    const next = row.waiting === 0 ? [] : database.all<HeldLock['next'][number]>(NEXT, row.name)
    return { ...row, next: next.map((it) => ({ ...it })) }
  })
}

export function queues(database: Database, _now: number, { after, limit }: NamePage): QueueRow[] {
  const rows: QueueRow[] = []
  for (let last = after; rows.length < limit; ) {
    const agent = database.get<{ agent: string }>(QUEUED_AGENT, last)?.agent
    if (agent === undefined) break
    const queue = database.get<{ depth: number; first: number }>(QUEUE, agent)
    const oldest = database.get<{ task: string; step: number }>(REQUEST, queue?.first ?? 0)
    rows.push({ agent, depth: queue?.depth ?? 0, oldest: oldest ? { ...oldest } : null })
    last = agent
  }
  return rows
}

export function backlogs(database: Database): BacklogRow[] {
  const rows: BacklogRow[] = []
  for (let last = { workflow: '', version: '' }; rows.length < MOST_BACKLOGS; ) {
    const next = database.get<typeof last>(READY_VERSION, last.workflow, last.version)
    if (!next) break
    const { workflow, version } = next
    const found = database.get<{ depth: number; key: number }>(BACKLOG, workflow, version)
    const since = database.get<{ since: number }>(SINCE, found?.key ?? 0)?.since ?? 0
    rows.push({ workflow, version, depth: found?.depth ?? 0, since })
    last = next
  }
  return rows
}

export function queueLength(database: Database, _now: number, line: LineQuery): number {
  const row =
    'workflow' in line
      ? database.get<{ waiting: number }>(READY, line.workflow, line.count)
      : database.get<{ waiting: number }>(
          QUEUED,
          ...[line.agent, line.agent + KEYED, endOfKeys(line.agent), line.count],
        )
  return row?.waiting ?? 0
}
