import type { CommitOutcome, Snapshot, Transition } from '../port.ts'
import type { Database, Value } from './database.ts'
import { postOne } from './inbox.ts'
import { insertTags, insertTask, tagsText } from './submit.ts'
import { requestWork, withdrawWork } from './work.ts'

const CREATE = `
INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, locked_by, epoch, ready, control,
  orphaned, deadline, base_seq, submitted_at, updated_at, parent, tags, progress, output, error, pause)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
const RECORD = 'INSERT INTO triarch_history (task, seq, at, events) VALUES (?, ?, ?, ?)'
/** The fence and the append in one: no row when another owns the task or the history already has this record. */
const APPEND = `
INSERT INTO triarch_history (task, seq, at, events)
SELECT key, ?, ?, ? FROM triarch_tasks WHERE key = ? AND epoch = ? AND locked_by = ? ON CONFLICT (task, seq) DO NOTHING`
const OWNED = 'SELECT 1 FROM triarch_tasks WHERE key = ? AND epoch = ? AND locked_by = ?'

const SNAPSHOT = `
updated_at = ?, status = ?, result = ?, failures = ?, deadline = ?, progress = ?, output = ?, error = ?, pause = ?`
const REBASE = 'base_seq = ?'
/** Whatever is still undelivered makes the task claimable again at once. */
export const RELEASE = `
locked_by = NULL, orphaned = ?, wake_at = ?,
ready = max(?, EXISTS (SELECT 1 FROM triarch_inbox WHERE task = triarch_tasks.key)),
control = EXISTS (SELECT 1 FROM triarch_inbox WHERE task = triarch_tasks.key AND control = 1)`
export const DISOWN_LETTERS = 'UPDATE triarch_inbox SET owner = NULL WHERE task = ?'

const CONSUME = 'DELETE FROM triarch_inbox WHERE id = ? AND task = ?'
const FORGET = 'DELETE FROM triarch_work WHERE task = ? AND step = ?'

const fenced: CommitOutcome = { ok: false, reason: 'fenced' }
const exists: CommitOutcome = { ok: false, reason: 'exists' }

export function commit(database: Database, _now: number, batch: readonly Transition[]): CommitOutcome[] {
  return database.transaction(() => batch.map((transition) => commitOne(database, transition)))
}

/** The first statement decides; a refused transition has touched nothing by then. */
function commitOne(database: Database, transition: Transition): CommitOutcome {
  const { node, epoch, seq, at, events, snapshot, rebase, release } = transition
  let key = transition.key
  if (transition.create) {
    key = createOwned(database, transition)
    if (key === null) return exists
  } else if (key === null) {
    return fenced
  } else if (events === null) {
    if (!database.get(OWNED, key, epoch, node)) return fenced
  } else if (database.run(APPEND, seq, at, events, key, epoch, node) === 0) {
    return fenced
  }
  for (const letter of transition.consumed) database.run(CONSUME, letter, key)
  for (const step of transition.forget) database.run(FORGET, key, step)
  for (const request of transition.work) requestWork(database, key, request)
  for (const step of transition.withdraw) withdrawWork(database, key, step, at)
  for (const child of transition.children) insertTask(database, child)
  for (const post of transition.posts) postOne(database, post)
  if (rebase || release || (snapshot && !transition.create)) updateTask(database, key, transition)
  return { ok: true, key }
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
    ...[rest.progress, rest.output, rest.error, rest.pause],
  )
  if (key === null) return null
  database.run(RECORD, key, seq, at, events ?? create.events)
  if (tags !== null) insertTags(database, key, create.tags)
  return key
}

function freshSnapshot({ status, deadline }: NewTaskState): Snapshot {
  return { status, result: 'pending', failures: 0, deadline, progress: null, output: null, error: null, pause: null }
}

type NewTaskState = Pick<Snapshot, 'status' | 'deadline'>

function updateTask(database: Database, key: number, { at, seq, create, snapshot, rebase, release }: Transition): void {
  const changes: string[] = []
  const values: Value[] = []
  if (snapshot && !create) {
    changes.push(SNAPSHOT)
    const { status, result, failures, deadline, progress, output, error, pause } = snapshot
    values.push(at, status, result, failures, deadline, progress, output, error, pause)
  }
  if (rebase) {
    changes.push(REBASE)
    values.push(seq)
  }
  if (release) {
    changes.push(RELEASE)
    values.push(release.orphaned ? 1 : 0, release.wakeAt, release.ready ? 1 : 0)
  }
  database.run(`UPDATE triarch_tasks SET ${changes.join(', ')} WHERE key = ?`, ...values, key)
  if (release) database.run(DISOWN_LETTERS, key)
}
