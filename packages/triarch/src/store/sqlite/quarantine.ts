import type { Audited } from '../audit.ts'
import type { Ownership, QuarantineEntry, Termination, Truncation } from '../port.ts'
import { keepAct, withAct } from './audit.ts'
import { DISOWN_MESSAGES } from './commit.ts'
import type { Database } from './database.ts'
import { postOne } from './inbox.ts'
import { stopped, unlockOthers } from './lock.ts'

const APPEND = `
INSERT INTO triarch_history (task, seq, at, events)
SELECT t.key, coalesce((SELECT max(seq) FROM triarch_history WHERE task = t.key), 0) + 1, ?, ? FROM triarch_tasks t
WHERE t.key = ?`
const SET_APART = `
UPDATE triarch_tasks SET quarantined = 1, locked_by = NULL, ready = 0, control = 0, orphaned = ?, wake_at = NULL,
  deadline = NULL, on_trial = 0, updated_at = ?, status = coalesce(?, status), pause = coalesce(?, pause)
WHERE key = ? AND epoch = ? AND locked_by = ?`
const LIFT = `
UPDATE triarch_tasks SET quarantined = 0, suspicion = 2, strikes = 2, on_trial = 0, ready = 1, control = 1
WHERE id = ? AND quarantined = 1`
const ACQUIT = `
UPDATE triarch_tasks SET suspicion = 0, strikes = 0, on_trial = 0
WHERE key = ? AND epoch = ? AND (locked_by = ? OR locked_by IS NULL)`
const SET_ASIDE = 'SELECT key FROM triarch_tasks WHERE id = ? AND quarantined = 1 AND locked_by IS NULL'
const END = `
UPDATE triarch_tasks SET quarantined = 0, orphaned = 0, updated_at = ?, status = ?, result = ?, output = ?,
  deadline = NULL, error = ?, pause = NULL WHERE key = ?`
const RECORD = 'SELECT 1 FROM triarch_history WHERE task = ? AND seq = ?'
const GIVE_UP = 'DELETE FROM triarch_history WHERE task = ? AND seq > ?'
const GO_BACK = `
UPDATE triarch_tasks SET orphaned = 1, base_seq = ?, updated_at = ?, status = ?, result = ?, failures = ?, deadline = NULL,
  progress = ?, output = ?, error = ?, pause = ? WHERE key = ?`
const FORGET = ['DELETE FROM triarch_work WHERE task = ?', 'DELETE FROM triarch_inbox WHERE task = ?'] as const

/** Puts a task into quarantine. Without a pause it keeps its status, because a stopped task cannot be paused. */
export function quarantine(database: Database, _now: number, task: QuarantineEntry): boolean {
  const { key, epoch, node, at, orphaned, record } = task
  return database.transaction(() => {
    const [status, pause] = record?.pause != null ? ['paused', record.pause] : [null, null]
    if (database.run(SET_APART, Number(orphaned), at, status, pause, key, epoch, node) === 0) return false
    if (record) database.run(APPEND, at, record.events, key)
    database.run(DISOWN_MESSAGES, key)
    return true
  })
}

export function releaseQuarantine(database: Database, _now: number, id: string, acted: Audited | null = null): boolean {
  return withAct(database, acted, Boolean, () => database.run(LIFT, id) > 0)
}

export function clearSuspicion(database: Database, _now: number, { key, epoch, node }: Ownership): void {
  database.run(ACQUIT, key, epoch, node)
}

export function terminate(
  database: Database,
  _now: number,
  { id, at, events, snapshot, posts, audit }: Termination,
): boolean {
  return database.transaction(() => {
    const key = database.get<{ key: number }>(SET_ASIDE, id)?.key
    if (key === undefined) return false
    database.run(APPEND, at, events, key)
    for (const sql of FORGET) database.run(sql, key)
    stopped(database, at, key, snapshot)
    database.run(END, at, snapshot.status, snapshot.result, snapshot.output, snapshot.error, key)
    for (const post of posts) postOne(database, post)
    if (audit) keepAct(database, audit)
    return true
  })
}

export function truncate(
  database: Database,
  _now: number,
  { id, after, at, events, snapshot, base, locks, audit }: Truncation,
): boolean {
  return database.transaction(() => {
    const key = database.get<{ key: number }>(SET_ASIDE, id)?.key
    if (key === undefined || !database.get(RECORD, key, after)) return false
    database.run(GIVE_UP, key, after)
    database.run(APPEND, at, events, key)
    database.run(FORGET[0], key)
    unlockOthers(database, at, key, locks)
    const { status, result, failures, progress, output, error, pause } = snapshot
    database.run(GO_BACK, base, at, status, result, failures, progress, output, error, pause, key)
    if (audit) keepAct(database, audit)
    return true
  })
}
