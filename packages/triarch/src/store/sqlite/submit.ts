import type { NewTask, SubmitOutcome } from '../port.ts'
import type { Database } from './database.ts'
import { follow, openGates, refusedBy } from './lock.ts'

const INSERT = `
INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, locked_by, epoch, ready, control,
  orphaned, wake_at, deadline, base_seq, submitted_at, updated_at, parent, tags)
VALUES (?, ?, ?, ?, ?, 'pending', 0, NULL, 0, ?, 0, 0, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
const RECORD = 'INSERT INTO triarch_history (task, seq, at, events) VALUES (?, 1, ?, ?)'
const KEY = 'SELECT key FROM triarch_tasks WHERE id = ?'
const TAG = 'INSERT INTO triarch_tags (name, value, task) VALUES (?, ?, ?)'

export function submit(database: Database, _now: number, tasks: readonly NewTask[]): SubmitOutcome[] {
  return database.transaction(() => tasks.map((task) => insertTask(database, task)))
}

/** Inside an open transaction. An id that exists stays as it is. */
export function insertTask(database: Database, task: NewTask): SubmitOutcome {
  const { id, workflow, version, priority, status, at, startAt, deadline, parent, gates } = task
  const [ready, tags] = [startAt === null && !gates ? 1 : 0, tagsText(task)]
  const heldBy = gates && refusedBy(database, gates.locks)
  if (heldBy !== undefined && !database.get(KEY, id)) return { created: false, key: 0, heldBy }
  const key = database.insert(
    INSERT,
    ...[id, workflow, version, priority, status, ready, startAt, deadline, at, at, parent, tags],
  )
  if (key === null) return { created: false, key: database.get<{ key: number }>(KEY, id)?.key ?? 0 }
  database.run(RECORD, key, at, task.events)
  if (tags !== null) insertTags(database, key, task.tags)
  if (gates) {
    for (const antecedent of gates.after) follow(database, key, antecedent)
    openGates(database, at, key, { locks: gates.locks, unlocks: [] })
  }
  return { created: true, key }
}

export function tagsText({ tags }: NewTask): string | null {
  return Object.keys(tags).length > 0 ? JSON.stringify(tags) : null
}

export function insertTags(database: Database, key: number, tags: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(tags)) database.run(TAG, name, value, key)
}
