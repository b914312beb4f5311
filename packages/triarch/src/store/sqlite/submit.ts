import type { Audited } from '../audit.ts'
import type { NewTask, SubmitOutcome } from '../port.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'
import { follow, openGates, refusedBy } from './lock.ts'

const INSERT = `
INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, locked_by, epoch, ready, control,
  orphaned, wake_at, deadline, base_seq, submitted_at, updated_at, parent, parent_step, tags, share)
VALUES (?, ?, ?, ?, ?, 'pending', 0, NULL, 0, ?, 0, 0, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
const RECORD = 'INSERT INTO triarch_history (task, seq, at, events) VALUES (?, 1, ?, ?)'
const KEY = 'SELECT key FROM triarch_tasks WHERE id = ?'
const REMOVE = 'DELETE FROM triarch_tasks WHERE key = ?'
const UNRECORD = 'DELETE FROM triarch_history WHERE task = ?'
const UNTAG = 'DELETE FROM triarch_tags WHERE name = ? AND value = ? AND task = ?'
const TAG = 'INSERT INTO triarch_tags (name, value, task) VALUES (?, ?, ?)'

export function submit(
  database: Database,
  _now: number,
  tasks: readonly NewTask[],
  acted: Audited | null = null,
): SubmitOutcome[] {
  return database.transaction(() => {
    const outcomes = insertTasks(database, tasks)
    if (acted?.audit && outcomes[0]?.created) keepAct(database, acted.audit)
    return outcomes
  })
}

/**
 * Inserts tasks inside an open transaction. A task whose id exists is left unchanged. All tasks are inserted before any
 * requests its locks.
 */
export function insertTasks(database: Database, tasks: readonly NewTask[]): SubmitOutcome[] {
  const made = tasks.map((task) => insertRow(database, task))
  return made.map((outcome, index) => (outcome.created ? gate(database, outcome, tasks[index] as NewTask) : outcome))
}

export function insertTask(database: Database, task: NewTask): SubmitOutcome {
  return insertTasks(database, [task])[0] as SubmitOutcome
}

/** Requests the locks of a new task; a task that must not wait for a lock that is held is deleted again. */
function gate(database: Database, outcome: SubmitOutcome, { gates, at, tags }: NewTask): SubmitOutcome {
  if (!gates) return outcome
  const { key } = outcome
  const holder = refusedBy(database, at, gates.locks)
  if (holder) {
    for (const [name, value] of Object.entries(tags)) database.run(UNTAG, name, value, key)
    for (const sql of [UNRECORD, REMOVE]) database.run(sql, key)
    return { created: false, key: 0, heldBy: holder.id, lock: holder.lock }
  }
  for (const antecedent of gates.after) follow(database, key, antecedent)
  openGates(database, at, key, { locks: gates.locks, unlocks: [] })
  return outcome
}

function insertRow(database: Database, task: NewTask): SubmitOutcome {
  const { id, workflow, version, priority, status, at, startAt, deadline, parent, parentStep, gates } = task
  const [ready, tags] = [startAt === null && !gates ? 1 : 0, tagsText(task)]
  const key = database.insert(
    INSERT,
    ...[id, workflow, version, priority, status, ready, startAt, deadline, at, at, parent, parentStep ?? null, tags],
    shareText(task),
  )
  if (key === null) return { created: false, key: database.get<{ key: number }>(KEY, id)?.key ?? 0 }
  database.run(RECORD, key, at, task.events)
  if (tags !== null) insertTags(database, key, task.tags)
  return { created: true, key }
}

export function tagsText({ tags }: Pick<NewTask, 'tags'>): string | null {
  return Object.keys(tags).length > 0 ? JSON.stringify(tags) : null
}

export function shareText({ share }: Pick<NewTask, 'share'>): string | null {
  return share ? JSON.stringify(share) : null
}

export function insertTags(database: Database, key: number, tags: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(tags)) database.run(TAG, name, value, key)
}
