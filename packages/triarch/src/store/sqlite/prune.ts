import { isTriarchError } from '../../error/error.ts'
import type { PruneReport, PruneRequest, RetentionRule, Undroppable } from '../retention.ts'
import type { Database } from './database.ts'
import { storeError } from './failure.ts'
import { dropGates } from './lock.ts'
import { leads } from './sweep.ts'

/** Workflows with stopped tasks, found by stepping from one to the next. */
const WORKFLOWS = `
WITH RECURSIVE names (workflow) AS (
  SELECT min(workflow) FROM triarch_tasks WHERE status = 'stopped' AND parent IS NULL
  UNION ALL
  SELECT (SELECT min(workflow) FROM triarch_tasks
          WHERE status = 'stopped' AND parent IS NULL AND workflow > names.workflow)
  FROM names WHERE names.workflow IS NOT NULL)
SELECT workflow FROM names WHERE workflow IS NOT NULL`
/**
 * Selects tasks that no node owns or is about to claim, with no running attempt (which holds its permits) and no child
 * that has not stopped.
 */
const OLD = `
SELECT key, id, workflow, updated_at AS at, (SELECT max(seq) FROM triarch_history WHERE task = t.key) AS records
FROM triarch_tasks t
WHERE status = 'stopped' AND parent IS NULL AND workflow = ? AND result = ? AND updated_at <= ?
  AND locked_by IS NULL AND ready = 0 AND key NOT IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM triarch_tasks c WHERE c.parent = t.id AND c.status <> 'stopped')
  AND NOT EXISTS (SELECT 1 FROM triarch_work w WHERE w.task = t.key AND w.locked_by IS NOT NULL)
ORDER BY updated_at LIMIT ? + 0`
const DROP = [
  'DELETE FROM triarch_history WHERE task = ?',
  'DELETE FROM triarch_effects WHERE task = ?',
  'DELETE FROM triarch_tags WHERE task = ?',
  'DELETE FROM triarch_inbox WHERE task = ?',
  'DELETE FROM triarch_work WHERE task = ?',
  'DELETE FROM triarch_tasks WHERE key = ?',
]
const ORPHAN = `
UPDATE triarch_tasks SET parent = NULL WHERE key IN (SELECT key FROM triarch_tasks WHERE parent = ? ORDER BY key LIMIT ? + 0)`
const CHILD = 'SELECT 1 FROM triarch_tasks WHERE parent = ? LIMIT 1'

interface OldTask {
  key: number
  id: string
  workflow: string
  at: number
  records: number
}

export function prune(database: Database, now: number, request: PruneRequest): PruneReport | null {
  if (!leads(database, request, now)) return null
  if (oldest(database, now, { ...request, limit: 1 }).length === 0) return { dropped: 0, more: false } // takes no write lock
  return database.transaction(() => {
    if (!leads(database, request, now)) return null
    const old = oldest(database, now, request)
    let left = request.records
    const victims = old.slice(0, request.limit).filter(({ records }, index) => {
      left -= records
      return index === 0 || left >= 0
    })
    const failed: Undroppable[] = []
    let children = request.records
    let dropped = 0
    for (const victim of victims) {
      const outcome = dropOne(database, now, victim, children)
      if ('message' in outcome) failed.push(outcome)
      else {
        children -= outcome.children
        if (outcome.dropped) dropped++
      }
    }
    const done = dropped + failed.length
    const more = old.length > done || done >= request.limit
    return { dropped, more, ...(failed.length > 0 && { failed }) }
  })
}

/**
 * Drops one task. Its children are detached first, a bounded number at a time: from then on retention applies to them
 * by themselves. The task is deleted when no child is left. A failure leaves no trace, and does not affect the others.
 */
function dropOne(
  database: Database,
  now: number,
  { key, id, workflow }: OldTask,
  most: number,
): { dropped: boolean; children: number } | Undroppable {
  database.run('SAVEPOINT one')
  try {
    const children = database.run(ORPHAN, id, most)
    const dropped = !database.get(CHILD, id)
    if (dropped) {
      dropGates(database, now, key)
      for (const statement of DROP) database.run(statement, key)
    }
    database.run('RELEASE one')
    return { dropped, children }
  } catch (error) {
    const known = storeError(error)
    // A full or unreachable store is not caused by the task.
    if (!database.connection.isTransaction || !isTriarchError(known, 'STORE_FAILED')) throw error
    database.run('ROLLBACK TO one')
    database.run('RELEASE one')
    return { key, id, workflow, message: known.message }
  }
}

function oldest(database: Database, now: number, { rules, limit, except = [] }: PruneRequest): OldTask[] {
  const left = JSON.stringify(except)
  const named = new Set(rules.map(({ workflow }) => workflow))
  const others = database.all<{ workflow: string }>(WORKFLOWS).filter(({ workflow }) => !named.has(workflow))
  const of = (rule: RetentionRule) =>
    rule.workflow === null ? others.map(({ workflow }) => workflow) : [rule.workflow]
  return rules
    .flatMap((rule) =>
      rule.age === null ? [] : of(rule).map((workflow) => ({ ...rule, workflow, until: now - (rule.age ?? 0) })),
    )
    .flatMap(({ workflow, result, until }) => database.all<OldTask>(OLD, workflow, result, until, left, limit))
    .sort((a, b) => a.at - b.at || a.key - b.key)
}
