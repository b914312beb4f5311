import type { Message } from '../../kernel/message.ts'
import type { TaskOutcome } from '../../kernel/status.ts'
import type { LockRequest, LockRow, Snapshot, Transition } from '../port.ts'
import type { Database } from './database.ts'
import { circleOf } from './deadlock.ts'
import { deliver, postOne } from './inbox.ts'

// Locks. Of each name at most one request is held; the others wait in the order of priority and id. A transaction that
// removes a held row grants the lock to the next in line, so a lock is never free while a task waits for it. Only tasks
// that exist and have not stopped have valid requests; a request of any other task is removed wherever it is found.

const ASK = `
INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since, fence)
SELECT ?, key, ?, priority, ?, ?, ?, ? FROM triarch_tasks WHERE key = ? ON CONFLICT (task, step) DO NOTHING
RETURNING id, priority`
const ASKED = 'SELECT 1 FROM triarch_locks WHERE task = ? AND step = ?'
const HOLDER = `
SELECT l.task, t.id, t.status FROM triarch_locks l LEFT JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ? AND l.held = 1`
const FENCE = `UPDATE triarch_lock_counters SET value = value + 1 WHERE name = 'fence' RETURNING value`
const REPLACED = `
SELECT l.id, t.id AS task FROM triarch_locks l INDEXED BY triarch_locks_replacing JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ? AND l.task <> ? AND l.held = 0 AND l.if_held = 'replace' ORDER BY l.id`
const SUPERSEDED = `UPDATE triarch_locks SET if_held = 'queue' WHERE id = ?`
const PARENT = `
INSERT INTO triarch_lock_parents (parent, name, rank, claim)
SELECT key, ?, -?, ? FROM triarch_tasks WHERE id = ? AND status <> 'stopped' ON CONFLICT DO NOTHING RETURNING parent`
const TIE = 'UPDATE triarch_locks SET tied = 1 WHERE task = ? AND held = 0 AND tied = 0'
const OTHER_CLAIMS = 'SELECT held FROM triarch_locks WHERE task = ? AND id <> ? ORDER BY held LIMIT 1'
const CHILD_WAITS = 'SELECT 1 FROM triarch_lock_parents WHERE parent = ? LIMIT 1'
const NEAREST = `
SELECT DISTINCT id FROM (SELECT t.id FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ?1 AND l.id <> ?3 AND (l.held = 1 OR l.priority > ?2 OR (l.priority = ?2 AND l.id < ?3))
ORDER BY l.held DESC, l.priority DESC, l.id LIMIT 10) ORDER BY id`
const TASK_ID = 'SELECT id FROM triarch_tasks WHERE key = ?'
const TAKE_BACK = 'DELETE FROM triarch_locks WHERE task = ? AND step = ? RETURNING name, held'
const TAKE_ALL_BACK = 'DELETE FROM triarch_locks WHERE task = ? RETURNING name, held'
const TAKE_OTHERS_BACK = `
DELETE FROM triarch_locks WHERE task = ? AND step NOT IN (SELECT value FROM json_each(?)) RETURNING name, held`
const FIRST = `
SELECT l.id, l.task, l.step, t.status FROM triarch_locks l LEFT JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ? AND l.held = 0 ORDER BY l.priority DESC, l.id LIMIT 1`
const GRANT = 'UPDATE triarch_locks SET held = 1, since = ?, fence = ? WHERE id = ?'
const STATUS = 'SELECT id, status FROM triarch_tasks WHERE key = ?'
const FOLLOWED = 'SELECT status, result FROM triarch_tasks WHERE id = ?'
const FOLLOW = 'INSERT INTO triarch_followers (antecedent, task) VALUES (?, ?) ON CONFLICT DO NOTHING'
const FOLLOWERS = 'DELETE FROM triarch_followers WHERE antecedent = ? RETURNING task'
const UNFOLLOW = 'DELETE FROM triarch_followers WHERE task = ?'
const ROWS = `
SELECT l.name, t.id AS task, l.step, l.held, l.since
FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task`
const ANY = 'SELECT 1 WHERE EXISTS (SELECT 1 FROM triarch_locks) OR EXISTS (SELECT 1 FROM triarch_followers)'
const OF_TASK = `
SELECT r.*, CASE WHEN r.held = 1 THEN 0 ELSE (SELECT count(*) FROM (
  SELECT 1 FROM triarch_locks o, triarch_locks l WHERE l.task = r.key AND l.step = r.step AND o.name = l.name
    AND (o.held = 1 OR o.priority > l.priority OR (o.priority = l.priority AND o.id < l.id)) LIMIT 10000)) END AS ahead
FROM (SELECT l.name, t.id AS task, l.step, l.held, l.since, t.key
  FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task WHERE t.id = ?) r ORDER BY r.step`
const OF_NAME = `${ROWS} WHERE l.name = ? ORDER BY l.held DESC, l.priority DESC, l.id LIMIT 1000`
const SWEPT = `SELECT value FROM triarch_lock_counters WHERE name = 'swept'`
const SWEEP_ON = `UPDATE triarch_lock_counters SET value = ? WHERE name = 'swept'`
const NEXT_SWEPT = `
SELECT l.id, l.name, l.task, l.step, l.priority, l.held, t.status FROM triarch_locks l LEFT JOIN triarch_tasks t ON t.key = l.task
WHERE l.id > ? ORDER BY l.id LIMIT ? + 0`

/** Whether any task has a lock or comes after another: without either, no task depends on how another ends. */
export function hasGates(database: Database): boolean {
  return database.get(ANY) !== undefined
}

/** Releases locks, then requests locks, inside an open transaction. */
export function openGates(database: Database, at: number, key: number, gates: NonNullable<Transition['gates']>): void {
  for (const step of gates.unlocks) free(database, at, database.all<Freed>(TAKE_BACK, key, step))
  for (const request of gates.locks) ask(database, at, key, request)
}

/** Releases the locks of a task that stops, and notifies the tasks that come after it of how it ended. Returns whether there were any. */
export function stopped(database: Database, at: number, key: number, { result }: Snapshot): boolean {
  const task = database.get<{ id: string; status: string }>(STATUS, key)
  if (!task || task.status === 'stopped') return false
  const freed = database.all<Freed>(TAKE_ALL_BACK, key)
  free(database, at, freed)
  const followers = database.all<{ task: number }>(FOLLOWERS, task.id)
  for (const follower of followers) {
    deliver(database, follower.task, { type: 'antecedent', task: task.id, result })
  }
  return freed.length + followers.length > 0
}

/** Removes all lock requests of the task but those of these steps. */
export function unlockOthers(database: Database, at: number, key: number, steps: readonly number[]): void {
  free(database, at, database.all<Freed>(TAKE_OTHERS_BACK, key, JSON.stringify(steps)))
}

/** Removes all lock requests of a stopped task that is being deleted. */
export function dropGates(database: Database, at: number, key: number): void {
  free(database, at, database.all<Freed>(TAKE_ALL_BACK, key))
  database.run(UNFOLLOW, key)
}

/**
 * Examines the next `limit` lock requests: removes those of tasks that have stopped or are gone, grants a lock that is
 * free while a task waits, and refuses requests in a deadlock that was not found before.
 */
export function sweepLocks(database: Database, at: number, limit: number): void {
  const from = database.get<{ value: number }>(SWEPT)?.value ?? 0
  const rows = database.all<SweptRow>(NEXT_SWEPT, from, limit)
  for (const { id, name, task, step, priority, held, status } of rows) {
    if (isDead(status)) free(database, at, database.all<Freed>(TAKE_BACK, task, step))
    else if (held === 0 && database.get(ASKED, task, step)) {
      if (holderOf(database, at, name)) refuseCircle(database, task, { id, step, name, priority })
      else pass(database, at, name)
    }
  }
  const to = rows.length < limit ? 0 : (rows.at(-1)?.id ?? 0)
  if (to !== from) database.run(SWEEP_ON, to)
}

/** Returns the task whose lock refuses a submission; undefined if none does. */
export function refusedBy(
  database: Database,
  at: number,
  locks: readonly LockRequest[],
): { id: string; lock: string } | undefined {
  for (const { name, ifHeld } of locks) {
    const holder = ifHeld === 'reject' ? holderOf(database, at, name) : undefined
    if (holder) return { id: holder.id, lock: name }
  }
  return undefined
}

/** Notifies the task when the other has stopped; at once if it has, or if it does not exist. */
export function follow(database: Database, key: number, antecedent: string): void {
  const row = database.get<{ status: string; result: TaskOutcome }>(FOLLOWED, antecedent)
  if (row && row.status !== 'stopped') database.run(FOLLOW, antecedent, key)
  else deliver(database, key, { type: 'antecedent', task: antecedent, result: row?.result ?? null })
}

export function locks(database: Database, _now: number, of: { task: string } | { name: string }): LockRow[] {
  if ('task' in of) {
    return database
      .all<SqliteLockRow & { ahead: number }>(OF_TASK, of.task)
      .map(({ name, task, step, held, since, ahead }) => ({ name, task, step, held: held === 1, since, ahead }))
  }
  return database
    .all<SqliteLockRow>(OF_NAME, of.name)
    .map(({ held, ...row }, index) => ({ ...row, held: held === 1, ahead: held === 1 ? 0 : index }))
}

type SqliteLockRow = Omit<LockRow, 'held' | 'ahead'> & { held: number }

interface Freed {
  name: string
  held: number
}

interface WaitingRequest {
  id: number
  step: number
  name: string
  priority: number
}

interface SweptRow extends WaitingRequest {
  task: number
  held: number
  status: string | null
}

function ask(database: Database, at: number, key: number, request: LockRequest): void {
  const { step, name, ifHeld, parents = [] } = request
  if (isDead(database.get<{ status: string }>(STATUS, key)?.status)) return
  const holder = holderOf(database, at, name)
  const letter = { type: 'lock', step, name } as const
  if (holder && ifHeld === 'reject') {
    return deliver(database, key, { ...letter, outcome: 'held', by: [holder.id] })
  }
  const fence = holder ? null : nextFence(database)
  const row = database.get<WaitingRequest>(ASK, name, step, ifHeld, holder ? 0 : 1, at, fence, key)
  if (!row) return // it was requested before
  if (fence !== null) return deliver(database, key, { ...letter, outcome: 'granted', fence })
  const claim = { ...row, step, name }
  if (tie(database, key, claim, parents) && refuseCircle(database, key, claim)) return
  if (ifHeld !== 'replace' || !holder) return
  postOne(database, { task: holder.id, message: replaced(name), control: true })
  // Each is notified once, because it will stop.
  for (const { id, task } of database.all<{ id: number; task: string }>(REPLACED, name, key)) {
    postOne(database, { task, message: replaced(name), control: true })
    database.run(SUPERSEDED, id)
  }
}

/**
 * Marks the tasks that wait for more than this lock: its own task, if it waits for others or for children, and those
 * that wait for its task. Returns false if no task can wait for this one, because it has only this request and no
 * waiting parent.
 */
function tie(
  database: Database,
  key: number,
  { id, name, priority }: WaitingRequest,
  parents: readonly string[],
): boolean {
  for (const parent of parents) {
    const row = database.get<{ parent: number }>(PARENT, name, priority, id, parent)
    if (row) database.run(TIE, row.parent)
  }
  const other = database.get<{ held: number }>(OTHER_CLAIMS, key, id)
  const forChild = database.get(CHILD_WAITS, key) !== undefined
  if (other?.held === 0 || forChild) database.run(TIE, key)
  return other !== undefined || forChild || parents.length > 0
}

/** Removes a waiting request that would make its task wait for itself. Returns whether it did. */
function refuseCircle(database: Database, key: number, { id, step, name, priority }: WaitingRequest): boolean {
  const end = circleOf(database, key, id)
  if (end === undefined) return false
  const by = database.all<{ id: string }>(NEAREST, name, priority, id).map((near) => near.id)
  const parent = end === key ? undefined : database.get<{ id: string }>(TASK_ID, end)?.id
  database.run(TAKE_BACK, key, step)
  const letter = { type: 'lock', step, name, outcome: 'deadlock', by } as const
  deliver(database, key, parent === undefined ? letter : { ...letter, parent })
  return true
}

/** Returns the task that holds the lock; releases it first if its holder has stopped or is gone. */
function holderOf(database: Database, at: number, name: string): { id: string } | undefined {
  for (;;) {
    const holder = database.get<{ task: number; id: string; status: string | null }>(HOLDER, name)
    if (!holder || !isDead(holder.status)) return holder
    free(database, at, database.all<Freed>(TAKE_ALL_BACK, holder.task))
  }
}

function isDead(status: string | null | undefined): boolean {
  return status === null || status === undefined || status === 'stopped'
}

function free(database: Database, at: number, rows: readonly Freed[]): void {
  for (const { name, held } of rows) if (held === 1) pass(database, at, name)
}

/** Grants the lock to the first waiting task that exists and has not stopped. */
function pass(database: Database, at: number, name: string): void {
  for (;;) {
    const first = database.get<{ id: number; task: number; step: number; status: string | null }>(FIRST, name)
    if (!first) return
    const { id, task, step, status } = first
    if (isDead(status)) {
      database.run(TAKE_BACK, task, step)
      continue
    }
    const fence = nextFence(database)
    database.run(GRANT, at, fence, id)
    deliver(database, task, { type: 'lock', step, name, outcome: 'granted', fence })
    return
  }
}

function nextFence(database: Database): number {
  return database.get<{ value: number }>(FENCE)?.value ?? 0
}

function replaced(name: string): Message {
  const reason = `replaced by another task that wants lock "${name}"`
  return { type: 'cancel', force: false, compensate: null, reason }
}
