import type { RefusedChild } from '../../kernel/child/child.ts'
import type { ErrorRecord, Json } from '../../kernel/json.ts'
import type { TaskOutcome } from '../../kernel/status.ts'
import { legible } from '../legible.ts'
import type { CommitOutcome, NewTask, Release, Snapshot, Transition } from '../port.ts'
import type { Database, SqlValue } from './database.ts'
import { deliver, postOne } from './inbox.ts'
import { hasGates, openGates, stopped } from './lock.ts'
import { insertTags, insertTask, shareText, tagsText } from './submit.ts'
import { requestWork, withdrawWork } from './work.ts'

/** Most records that one transition drops, and most children that it detaches: a task may have gathered many before an update. */
const MOST_SHED = 10_000
/** Histories are kept whole up to this record. */
const LEAST_SHED = 64

const CREATE = `
INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, locked_by, epoch, ready, control,
  orphaned, deadline, base_seq, submitted_at, updated_at, parent, tags, share, progress, output, error, pause)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
const RECORD = 'INSERT INTO triarch_history (task, seq, at, events) VALUES (?, ?, ?, ?)'
/**
 * Inserts no row if the history already has this record. It has VALUES instead of a query, because SQLite first copies
 * the rows of a query that reads the table it writes.
 */
const APPEND = `${RECORD} ON CONFLICT (task, seq) DO NOTHING`
/**
 * The fence. It finds no row if the task has another owner, or if its history lacks the record before or has another
 * one in its place: then the store went back, and may have given the key to another task, or the same epoch to this
 * node again.
 */
const OWNED = `
SELECT 1 FROM triarch_tasks WHERE key = ?1 AND epoch = ?2 AND locked_by = ?3 AND id = ?4
  AND (?5 = 0 OR EXISTS (SELECT 1 FROM triarch_history WHERE task = ?1 AND seq = ?5 AND (?6 IS NULL OR at = ?6)))`

const SNAPSHOT = `
updated_at = ?, status = ?, result = ?, failures = ?, deadline = ?, progress = ?, output = ?, error = ?, pause = ?`
const REBASE = 'base_seq = ?'
/**
 * Records before the base are never replayed, except the submission. A new base drops all records before the previous
 * base, so that two runs can be inspected and a task that never ends does not grow. Short histories stay whole.
 */
const SHED = `
DELETE FROM triarch_history WHERE task = ?1 AND seq IN (
  SELECT seq FROM triarch_history WHERE task = ?1 AND seq > 1
    AND seq < (SELECT base_seq FROM triarch_tasks WHERE key = ?1 AND base_seq > ${LEAST_SHED}) ORDER BY seq LIMIT ${MOST_SHED})`
/**
 * A new base also detaches children: those that had stopped when the previous base was made lose their parent, and are
 * kept according to their own retention.
 */
const LEAVE = `
UPDATE triarch_tasks SET parent = NULL WHERE key IN (
  SELECT c.key FROM triarch_tasks c WHERE c.parent = ?2 AND c.status = 'stopped' AND c.updated_at < (
    SELECT h.at FROM triarch_tasks t JOIN triarch_history h ON h.task = t.key AND h.seq = t.base_seq
    WHERE t.key = ?1 AND t.base_seq > ${LEAST_SHED})
  ORDER BY c.key LIMIT ${MOST_SHED})`
/** Undelivered messages make the task claimable again at once. */
export const RELEASE = `
locked_by = NULL, orphaned = ?, wake_at = ?,
ready = max(?, EXISTS (SELECT 1 FROM triarch_inbox WHERE task = triarch_tasks.key)),
control = EXISTS (SELECT 1 FROM triarch_inbox WHERE task = triarch_tasks.key AND control = 1)`
/**
 * Variants of RELEASE for a task without undelivered messages that is ready (READ) or not (RESTING); nearly all are the
 * latter. An owned task is never ready.
 */
const RELEASE_READ = 'locked_by = NULL, orphaned = ?, wake_at = ?, ready = ?, control = 0'
const RELEASE_AT_REST = 'locked_by = NULL, orphaned = ?, wake_at = ?'
const UNREAD = 'SELECT 1 FROM triarch_inbox WHERE task = ? LIMIT 1'
export const DISOWN_MESSAGES = 'UPDATE triarch_inbox SET owner = NULL WHERE task = ?'

/** A reply replaces its request, and stays until it is consumed. */
const ANSWERED = `
SELECT 1 FROM triarch_inbox WHERE task = ?1 AND kind = 'reply' AND id NOT IN (SELECT value FROM json_each(?2)) LIMIT 1`
const REQUESTED = 'SELECT 1 FROM triarch_work WHERE task = ? AND step = ? AND operation = ? AND attempt = ?'

const CONSUME = 'DELETE FROM triarch_inbox WHERE id = ? AND task = ?'
const FORGET = 'DELETE FROM triarch_work WHERE task = ? AND step = ?'

const CHILD = `
SELECT parent, parent_step AS step, status, result, output, error FROM triarch_tasks WHERE id = ?`

const fenced: CommitOutcome = { ok: false, reason: 'fenced' }
const lost: CommitOutcome = { ok: false, reason: 'lost' }
const exists: CommitOutcome = { ok: false, reason: 'exists' }

export function commit(database: Database, _now: number, batch: readonly Transition[]): CommitOutcome[] {
  return database.transaction(() => {
    const gated = batch.some(makesGated) || hasGates(database)
    const outcomes = batch.map((transition) => commitOne(database, transition, gated))
    for (const [index, { at, gates }] of batch.entries()) {
      const outcome = outcomes[index]
      if (!outcome?.ok || !gates) continue
      openGates(database, at, outcome.key, gates)
      outcome.told = true
    }
    return outcomes
  })
}

/** Whether a task may wait for the end of a task of this same batch: locks are requested after all tasks of the batch have stopped. */
function makesGated({ children }: Transition): boolean {
  return children.some((child) => child.gates !== undefined)
}

/**
 * Writes one transition. `gated`: a task may wait for the end of another. A refused transition has written nothing by
 * the time it is refused.
 */
function commitOne(database: Database, transition: Transition, gated: boolean): CommitOutcome {
  const { node, epoch, seq, at, events, snapshot, rebase, release } = transition
  let key = transition.key
  if (transition.create) {
    key = createOwned(database, transition)
    if (key === null) return exists
  } else if (key === null) {
    return fenced
  } else {
    const before = events === null ? seq : seq - 1
    if (events !== null && before < 1) return fenced
    if (!database.get(OWNED, key, epoch, node, transition.id, before, transition.lastAt)) return fenced
    if (release?.awaits && lacksRequest(database, key, release.awaits, transition.consumed)) return lost
    if (events !== null && database.run(APPEND, key, seq, at, events) === 0) return fenced
  }
  for (const letter of transition.consumed) database.run(CONSUME, letter, key)
  for (const step of transition.forget) database.run(FORGET, key, step)
  for (const request of transition.work) requestWork(database, key, request)
  for (const step of transition.withdraw) withdrawWork(database, key, step, at)
  for (const child of transition.children) createChild(database, key, transition.id, child)
  for (const post of transition.posts) postOne(database, post)
  const told = gated && snapshot?.status === 'stopped' && stopped(database, at, key, snapshot)
  if (rebase || release || (snapshot && !transition.create)) updateTask(database, key, transition)
  return told ? { ok: true, key, told } : { ok: true, key }
}

function lacksRequest(
  database: Database,
  key: number,
  awaits: NonNullable<Release['awaits']>,
  consumed: readonly number[],
): boolean {
  const isThere = ({ step, operation, attempt }: (typeof awaits)[number]) =>
    database.get(REQUESTED, key, step, operation, attempt) !== undefined
  return !awaits.every(isThere) && !database.get(ANSWERED, key, JSON.stringify(consumed))
}

/**
 * Handles a child whose id exists. If it belongs to another task (or another step), it will never answer, so the parent
 * gets an error instead of waiting for ever. If it is the parent's own (requested again after a retry) and has stopped,
 * its answer is sent once more.
 */
function createChild(database: Database, parent: number, parentId: string, child: NewTask): void {
  const made = insertTask(database, child)
  if (made.created) return
  const step = child.parentStep ?? 0
  const { heldBy, lock } = made
  if (heldBy !== undefined && lock !== undefined) {
    return refuseChild(database, parent, step, { child: child.id, code: 'LOCK_HELD', lock, by: heldBy })
  }
  const row = database.get<ChildRow>(CHILD, child.id)
  if (row?.parent !== parentId || (row.step ?? 0) !== step) {
    return refuseChild(database, parent, step, { child: child.id, code: 'TASK_EXISTS' })
  }
  if (row.status !== 'stopped') return
  const { result } = row
  const [output, error] = [row.output, row.error].map((text) => (text === null ? null : (legible(text) as Json)))
  // The child's row is damaged: the parent gets that as the answer, and the rest of the batch is not affected.
  if (output === undefined || error === undefined) {
    const error = {
      name: 'TriarchError',
      code: 'HISTORY_CORRUPT',
      message: `the row of task "${child.id}" cannot be read`,
    }
    return deliver(database, parent, { type: 'child', step, result: 'error', error })
  }
  deliver(database, parent, {
    type: 'child',
    step,
    result,
    ...(row.output !== null && { output }),
    ...(row.error !== null && { error: error as unknown as ErrorRecord }),
  })
}

function refuseChild(database: Database, parent: number, step: number, refused: RefusedChild): void {
  deliver(database, parent, { type: 'child', step, result: 'error', refused })
}

interface ChildRow {
  step: number | null
  parent: string | null
  status: string
  result: TaskOutcome
  output: string | null
  error: string | null
}

function createOwned(
  database: Database,
  { create, node, epoch, seq, at, events, snapshot }: Transition,
): number | null {
  if (!create) return null
  const { id, workflow, version, priority, parent } = create
  const { status, result, failures, deadline, ...rest } = snapshot ?? freshSnapshot(create)
  const tags = tagsText(create)
  const key = database.insert(
    CREATE,
    ...[id, workflow, version, priority, status, result, failures, node, epoch, deadline, create.at, at, parent, tags],
    ...[shareText(create), rest.progress, rest.output, rest.error, rest.pause],
  )
  if (key === null) return null
  database.run(RECORD, key, seq, at, events)
  if (tags !== null) insertTags(database, key, create.tags)
  return key
}

function freshSnapshot({ status, deadline }: NewTaskState): Snapshot {
  return { status, result: 'pending', failures: 0, deadline, progress: null, output: null, error: null, pause: null }
}

type NewTaskState = Pick<Snapshot, 'status' | 'deadline'>

/** The statements for each combination of changes to the row; each text is prepared once. */
const UPDATES = Array.from({ length: 32 }, (_, which) => {
  const parts = [SNAPSHOT, REBASE, RELEASE_AT_REST, RELEASE_READ, RELEASE].filter((_, bit) => which & (1 << bit))
  return `UPDATE triarch_tasks SET ${parts.join(', ')} WHERE key = ?`
})

function updateTask(database: Database, key: number, transition: Transition): void {
  const { id, at, seq, create, snapshot, rebase, release } = transition
  const values: SqlValue[] = []
  let which = 0
  if (snapshot && !create) {
    which |= 1
    const { status, result, failures, deadline, progress, output, error, pause } = snapshot
    values.push(at, status, result, failures, deadline, progress, output, error, pause)
  }
  if (rebase) {
    database.run(SHED, key)
    database.run(LEAVE, key, id)
    which |= 2
    values.push(seq)
  }
  const unread = release !== null && database.get(UNREAD, key) !== undefined
  if (release) {
    which |= unread ? 16 : release.ready ? 8 : 4
    values.push(release.orphaned ? 1 : 0, release.wakeAt)
    if (unread || release.ready) values.push(release.ready ? 1 : 0)
  }
  database.run(UPDATES[which] ?? '', ...values, key)
  if (unread) database.run(DISOWN_MESSAGES, key)
}
