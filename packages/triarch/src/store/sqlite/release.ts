import { DISOWN_MESSAGES, RELEASE } from './commit.ts'
import type { Database } from './database.ts'
import { deliver } from './inbox.ts'
import { type AttemptRow, replyFor } from './work.ts'

const RELEASE_TASKS = `
UPDATE triarch_tasks SET ${RELEASE}
WHERE key IN (SELECT key FROM triarch_tasks WHERE locked_by = ? ORDER BY key LIMIT ? + 0) RETURNING key`
/** No owner died, so a task on probation gets no strike. */
const RELEASE_STRAYS = `
UPDATE triarch_tasks SET on_trial = 0, ${RELEASE}
WHERE locked_by = ? AND id NOT IN (SELECT value FROM json_each(?)) RETURNING key`
const RELEASE_WORK = `
DELETE FROM triarch_work WHERE id IN (SELECT id FROM triarch_work WHERE locked_by = ? LIMIT ? + 0)
RETURNING task, step, operation, attempt`

/** Releases the node's tasks (at most `limit`; -1: all) as orphaned. */
export function releaseTasks(database: Database, node: string, limit: number): number {
  const rows = database.all<{ key: number }>(RELEASE_TASKS, 1, null, 1, node, limit)
  for (const { key } of rows) database.run(DISOWN_MESSAGES, key)
  return rows.length
}

/** Releases the node's tasks that it does not know of. */
export function releaseStrays(database: Database, node: string, held: readonly string[]): void {
  const rows = database.all<{ key: number }>(RELEASE_STRAYS, 1, null, 1, node, JSON.stringify(held))
  for (const { key } of rows) database.run(DISOWN_MESSAGES, key)
}

/** Ends the attempts that the node's agents ran, with replies that their outcome is unknown. */
export function releaseWork(database: Database, now: number, node: string, limit: number): number {
  const rows = database.all<AttemptRow & { task: number }>(RELEASE_WORK, node, limit)
  for (const row of rows) {
    const error = { name: 'AgentLost', code: 'STEP_LOST', message: `the node ${node} that ran the attempt died` }
    deliver(database, row.task, replyFor(row, { kind: 'failed', error, retryable: true, unknown: true }, now, node))
  }
  return rows.length
}
