import type { ErrorRecord } from '../../kernel/json.ts'
import type { SweepReport, SweepRequest } from '../port.ts'
import type { Database } from './database.ts'
import { deliver } from './inbox.ts'
import { sweepLocks } from './lock.ts'
import { MARK } from './nodes.ts'
import { sweepPermits } from './permit.ts'
import { releaseTasks, releaseWork } from './release.ts'
import { type AttemptRow, replyFor } from './work.ts'

/** How long the row of a dead node is kept, so that the node learns of it (ms). */
const TOMBSTONE = 24 * 60 * 60 * 1_000

/** Most lock requests that one sweep examines. */
const MOST_CLAIMS = 200

export const LEADS = 'SELECT 1 FROM triarch_leases WHERE name = ? AND token = ? AND until > ?'
const BURY = 'UPDATE triarch_nodes SET dead = 1 WHERE dead = 0 AND lease_until < ? RETURNING id'
const BURY_SILENT = `UPDATE triarch_nodes SET dead = 1 WHERE id = ? AND dead = 0 AND ${MARK} = ?`
/** The leader has seen the heartbeats of these nodes, so their leases are extended and no clock makes them dead. */
const VOUCH = 'UPDATE triarch_nodes SET lease_until = ?1 WHERE dead = 0 AND lease_until < ?1'
const SHIFT = `
UPDATE triarch_work SET complete_by = complete_by + ?1, heartbeat_by = heartbeat_by + ?1 WHERE locked_by IS NOT NULL`
const CLEAR = 'DELETE FROM triarch_nodes WHERE dead = 1 AND lease_until < ?'
/** Owners that are not living nodes, found by stepping from one distinct owner to the next. */
const LOST_OWNERS = (table: string): string => `
WITH RECURSIVE owners (id) AS (
  SELECT min(locked_by) FROM ${table} WHERE locked_by IS NOT NULL
  UNION ALL
  SELECT (SELECT min(locked_by) FROM ${table} WHERE locked_by IS NOT NULL AND locked_by > owners.id)
  FROM owners WHERE owners.id IS NOT NULL)
SELECT id FROM owners
WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM triarch_nodes WHERE id = owners.id AND dead = 0)`
const LOST_TASK_OWNERS = LOST_OWNERS('triarch_tasks')
const LOST_WORK_OWNERS = LOST_OWNERS('triarch_work')
const EXPIRE = `
DELETE FROM triarch_work WHERE id IN (SELECT id FROM triarch_work WHERE due_at <= ? ORDER BY due_at LIMIT ? + 0)
RETURNING task, step, operation, attempt, locked_by, complete_by, heartbeat_by`
const SCHEDULE_DUE = 'SELECT 1 FROM triarch_schedules WHERE next_at <= ? LIMIT 1'
const OVERDUE = `
UPDATE triarch_tasks SET ready = 1, control = 1
WHERE key IN (SELECT key FROM triarch_tasks
              WHERE deadline IS NOT NULL AND locked_by IS NULL AND control = 0 AND deadline <= ?
              ORDER BY deadline LIMIT ? + 0)`

interface ExpiredRow extends AttemptRow {
  task: number
  locked_by: string | null
  complete_by: number | null
  heartbeat_by: number | null
}

export function sweep(
  database: Database,
  clock: number,
  { name, token, limit, silent, shift = 0, until = clock }: SweepRequest,
): SweepReport | null {
  const now = Math.min(clock, until)
  return database.transaction(() => {
    if (!leads(database, { name, token }, now)) return null
    const deadNodes = silent ? markDead(database, now, silent) : []
    deadNodes.push(...database.all<{ id: string }>(BURY, now).map(({ id }) => id))
    if (shift > 0) database.run(SHIFT, shift)
    database.run(CLEAR, now - TOMBSTONE)
    const releasedTasks = forOwners(database, LOST_TASK_OWNERS, limit, (owner, left) =>
      releaseTasks(database, owner, left),
    )
    const lostSteps = forOwners(database, LOST_WORK_OWNERS, limit, (owner, left) =>
      releaseWork(database, now, owner, left),
    )
    const lateSteps = expire(database, now, limit)
    const overdueTasks = database.run(OVERDUE, now, limit)
    sweepLocks(database, now, Math.min(limit, MOST_CLAIMS))
    sweepPermits(database, limit)
    const schedules = database.get(SCHEDULE_DUE, now) !== undefined
    const more = [releasedTasks, lostSteps, lateSteps, overdueTasks].includes(limit)
    return { deadNodes, releasedTasks, expiredSteps: lostSteps + lateSteps, overdueTasks, schedules, more }
  })
}

/** Declares nodes dead whose marks have not changed since they were found silent; all others are alive, whatever the clock says. */
function markDead(database: Database, now: number, silent: readonly { id: string; mark: string }[]): string[] {
  const dead = silent.filter(({ id, mark }) => database.run(BURY_SILENT, id, mark) > 0).map(({ id }) => id)
  database.run(VOUCH, now)
  return dead
}

/** Whether this is the token of the current lease. */
export function leads(database: Database, { name, token }: { name: string; token: number }, now: number): boolean {
  return database.get(LEADS, name, token, now) !== undefined
}

function forOwners(
  database: Database,
  lost: string,
  limit: number,
  release: (owner: string, left: number) => number,
): number {
  let left = limit
  for (const { id } of database.all<{ id: string }>(lost)) left -= release(id, left)
  return limit - left
}

function expire(database: Database, now: number, limit: number): number {
  const rows = database.all<ExpiredRow>(EXPIRE, now, limit)
  for (const row of rows) {
    const taken = row.locked_by !== null
    const outcome = { kind: 'failed', error: lateness(row, now), retryable: true } as const
    deliver(database, row.task, replyFor(row, taken ? { ...outcome, unknown: true } : outcome, now, row.locked_by))
  }
  return rows.length
}

function lateness({ locked_by, complete_by, heartbeat_by }: ExpiredRow, now: number): ErrorRecord {
  const name = 'StepTimeoutError'
  if (locked_by === null) return { name, code: 'STEP_TIMEOUT', message: 'no agent took the attempt before it expired' }
  if (heartbeat_by !== null && heartbeat_by <= now && (complete_by === null || heartbeat_by < complete_by)) {
    return { name, code: 'HEARTBEAT_MISSED', message: 'the attempt gave no heartbeat in time' }
  }
  return { name, code: 'STEP_TIMEOUT', message: 'the attempt was not done by its complete-by' }
}
