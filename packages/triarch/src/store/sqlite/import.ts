import type { ImportedTask } from '../port.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'
import { insertTags, shareText, tagsText } from './submit.ts'

const INSERT = `
INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, locked_by, epoch, ready, control,
  orphaned, wake_at, deadline, base_seq, submitted_at, updated_at, parent, parent_step, tags, share, progress, output, error, pause)
VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, ?, 0, ?, NULL, ?, ?, ?, ?, (SELECT id FROM triarch_tasks WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING`
const RECORD = 'INSERT INTO triarch_history (task, seq, at, events) VALUES (?, ?, ?, ?)'
const ADOPT = 'UPDATE triarch_tasks SET parent = ? WHERE id = ? AND parent IS NULL AND parent_step = ?'

export function importTask(database: Database, now: number, task: ImportedTask): boolean {
  return database.transaction(() => {
    const { id, workflow, version, priority, at, base, ready, orphaned, parent, parentStep, snapshot } = task
    const { status, result, failures, deadline, progress, output, error, pause } = snapshot
    const key = database.insert(
      INSERT,
      ...[id, workflow, version, priority, status, result, failures, ready ? 1 : 0, orphaned ? 1 : 0, deadline, base],
      ...[at, now, parent, parentStep ?? null, tagsText(task), shareText(task), progress, output, error, pause],
    )
    if (key === null) return false
    for (const record of task.records) database.run(RECORD, key, record.seq, record.at, record.events)
    insertTags(database, key, task.tags)
    for (const child of task.children) database.run(ADOPT, id, child.task, child.step)
    if (task.audit) keepAct(database, task.audit)
    return true
  })
}
