import type { Message } from '../../kernel/message.ts'
import type { TaskResult } from '../../kernel/status.ts'
import type { LockRequest, LockRow, Snapshot, Transition } from '../port.ts'
import type { Database } from './database.ts'
import { deliver, postOne } from './inbox.ts'

// Claims on names. Of one name at most one row is held; the others wait in the order of priority and id. Whoever takes a
// held row away gives the next in line its turn in the same transaction, so a name is never free while somebody waits.

const ASK = `
INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since)
SELECT ?, key, ?, priority, ?, ?, ? FROM triarch_tasks WHERE key = ? ON CONFLICT (task, step) DO NOTHING`
const HOLDER = `
SELECT t.id FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task WHERE l.name = ? AND l.held = 1`
const REPLACED = `
SELECT t.id FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task
WHERE l.name = ? AND l.task <> ? AND (l.held = 1 OR l.if_held = 'replace') ORDER BY l.id`
const OTHERS = 'SELECT 1 FROM triarch_locks WHERE task = ? LIMIT 2'
/** Those before a task in its lines, and those before these, however far; the nearest with the step they are before. */
const BEFORE = `
WITH RECURSIVE before (task, step) AS (
  SELECT r.task, w.step FROM triarch_locks w JOIN triarch_locks r ON r.name = w.name AND r.id <> w.id
  WHERE w.task = ?1 AND w.held = 0
    AND (r.held = 1 OR r.priority > w.priority OR (r.priority = w.priority AND r.id < w.id))
  UNION
  SELECT r.task, NULL FROM before b JOIN triarch_locks w ON w.task = b.task AND w.held = 0
    JOIN triarch_locks r ON r.name = w.name AND r.id <> w.id
  WHERE b.task <> ?1 AND (r.held = 1 OR r.priority > w.priority OR (r.priority = w.priority AND r.id < w.id)))`
const CIRCLE = `${BEFORE} SELECT 1 FROM before WHERE task = ?1 LIMIT 1`
const NEAREST = `${BEFORE} SELECT DISTINCT t.id FROM before JOIN triarch_tasks t ON t.key = before.task WHERE before.step = ?2 ORDER BY t.id`
const TAKE_BACK = 'DELETE FROM triarch_locks WHERE task = ? AND step = ? RETURNING name, held'
const TAKE_ALL_BACK = 'DELETE FROM triarch_locks WHERE task = ? RETURNING name, held'
const NEXT = `
UPDATE triarch_locks SET held = 1, since = ?
WHERE id = (SELECT id FROM triarch_locks WHERE name = ? ORDER BY priority DESC, id LIMIT 1) RETURNING task, step`
const STATUS = 'SELECT id, status FROM triarch_tasks WHERE key = ?'
const FOLLOWED = 'SELECT status, result FROM triarch_tasks WHERE id = ?'
const FOLLOW = 'INSERT INTO triarch_followers (antecedent, task) VALUES (?, ?) ON CONFLICT DO NOTHING'
const FOLLOWERS = 'DELETE FROM triarch_followers WHERE antecedent = ? RETURNING task'
const ROWS = `
SELECT l.name, t.id AS task, l.step, l.held, l.since,
  (SELECT count(*) FROM triarch_locks o WHERE o.name = l.name AND l.held = 0
     AND (o.held = 1 OR o.priority > l.priority OR (o.priority = l.priority AND o.id < l.id))) AS ahead
FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task`
const ANY = 'SELECT 1 WHERE EXISTS (SELECT 1 FROM triarch_locks) OR EXISTS (SELECT 1 FROM triarch_followers)'
const OF_TASK = `${ROWS} WHERE t.id = ? ORDER BY l.step`
const OF_NAME = `${ROWS} WHERE l.name = ? ORDER BY l.held DESC, l.priority DESC, l.id LIMIT 1000`

/** Whether any task has a lock or comes after another: without, nobody cares how a task ends. */
export function hasGates(database: Database): boolean {
  return database.get(ANY) !== undefined
}

/** Inside an open transaction: gives back, then asks. Whether that wrote letters. */
export function openGates(
  database: Database,
  at: number,
  key: number,
  gates: NonNullable<Transition['gates']>,
): boolean {
  for (const step of gates.unlocks) free(database, at, database.all<Freed>(TAKE_BACK, key, step))
  for (const request of gates.locks) ask(database, at, key, request)
  return gates.unlocks.length + gates.locks.length > 0
}

/** The task stops: what it holds is for others, and those that come after it learn how it ended. Whether there are any. */
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

/** The task whose lock refuses a submission; undefined: none does. */
export function refusedBy(database: Database, locks: readonly LockRequest[]): string | undefined {
  for (const { name, ifHeld } of locks) {
    const holder = ifHeld === 'reject' ? database.get<{ id: string }>(HOLDER, name) : undefined
    if (holder) return holder.id
  }
  return undefined
}

/** Tells the task when the other has stopped; at once when it has, or when nobody knows it. */
export function follow(database: Database, key: number, antecedent: string): void {
  const row = database.get<{ status: string; result: TaskResult }>(FOLLOWED, antecedent)
  if (row && row.status !== 'stopped') database.run(FOLLOW, antecedent, key)
  else deliver(database, key, { type: 'antecedent', task: antecedent, result: row?.result ?? null })
}

export function locks(database: Database, _now: number, of: { task: string } | { name: string }): LockRow[] {
  const rows = 'task' in of ? database.all<Row>(OF_TASK, of.task) : database.all<Row>(OF_NAME, of.name)
  return rows.map(({ held, ...row }) => ({ ...row, held: held === 1 }))
}

type Row = Omit<LockRow, 'held'> & { held: number }

interface Freed {
  name: string
  held: number
}

function ask(database: Database, at: number, key: number, { step, name, ifHeld }: LockRequest): void {
  const holder = database.get<{ id: string }>(HOLDER, name)
  const letter = { type: 'lock', step, name } as const
  if (holder && ifHeld === 'reject') {
    return deliver(database, key, { ...letter, outcome: 'held', by: [holder.id] })
  }
  if (database.run(ASK, name, step, ifHeld, holder ? 0 : 1, at, key) === 0) return
  if (!holder) return deliver(database, key, { ...letter, outcome: 'granted' })
  if (closesCircle(database, key)) {
    const by = database.all<{ id: string }>(NEAREST, key, step).map(({ id }) => id)
    database.run(TAKE_BACK, key, step)
    return deliver(database, key, { ...letter, outcome: 'deadlock', by })
  }
  if (ifHeld !== 'replace') return
  for (const { id } of database.all<{ id: string }>(REPLACED, name, key)) {
    postOne(database, { task: id, message: replaced(name), control: true })
  }
}

/** A task with this one claim holds nothing that anybody could wait for. */
function closesCircle(database: Database, key: number): boolean {
  return database.all(OTHERS, key).length > 1 && database.get(CIRCLE, key) !== undefined
}

function free(database: Database, at: number, rows: readonly Freed[]): void {
  for (const { name, held } of rows) {
    const next = held === 1 ? database.get<{ task: number; step: number }>(NEXT, at, name) : undefined
    if (next) deliver(database, next.task, { type: 'lock', step: next.step, name, outcome: 'granted' })
  }
}

function replaced(name: string): Message {
  const reason = `replaced by another task that wants lock "${name}"`
  return { type: 'cancel', force: false, compensate: null, reason }
}
