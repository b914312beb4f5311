import type { PruneReport, PruneRequest, RetentionRule } from '../retention.ts'
import type { Database } from './database.ts'
import { dropGates } from './lock.ts'
import { leads } from './sweep.ts'

/** Workflows of which a task has stopped, found by stepping from one to the next. */
const WORKFLOWS = `
WITH RECURSIVE names (workflow) AS (
  SELECT min(workflow) FROM triarch_tasks WHERE status = 'stopped' AND parent IS NULL
  UNION ALL
  SELECT (SELECT min(workflow) FROM triarch_tasks
          WHERE status = 'stopped' AND parent IS NULL AND workflow > names.workflow)
  FROM names WHERE names.workflow IS NOT NULL)
SELECT workflow FROM names WHERE workflow IS NOT NULL`
/** Nobody has it or is about to take it, and none of its children is open. */
const OLD = `
SELECT key, id, updated_at AS at, (SELECT max(seq) FROM triarch_history WHERE task = t.key) AS records
FROM triarch_tasks t
WHERE status = 'stopped' AND parent IS NULL AND workflow = ? AND result = ? AND updated_at <= ?
  AND locked_by IS NULL AND ready = 0
  AND NOT EXISTS (SELECT 1 FROM triarch_tasks c WHERE c.parent = t.id AND c.status <> 'stopped')
ORDER BY updated_at LIMIT ?`
const DROP = [
  'DELETE FROM triarch_history WHERE task = ?',
  'DELETE FROM triarch_effects WHERE task = ?',
  'DELETE FROM triarch_tags WHERE task = ?',
  'DELETE FROM triarch_inbox WHERE task = ?',
  'DELETE FROM triarch_work WHERE task = ?',
  'DELETE FROM triarch_tasks WHERE key = ?',
]
const ORPHAN = `
UPDATE triarch_tasks SET parent = NULL WHERE key IN (SELECT key FROM triarch_tasks WHERE parent = ? ORDER BY key LIMIT ?)`
const CHILD = 'SELECT 1 FROM triarch_tasks WHERE parent = ? LIMIT 1'

interface OldTask {
  key: number
  id: string
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
    // Their children first, in portions: they are judged by themselves from then on. A parent goes when none is left.
    let children = request.records
    for (const { id } of victims) children -= database.run(ORPHAN, id, children)
    const bare = victims.filter(({ id }) => !database.get(CHILD, id))
    for (const { key } of bare) {
      dropGates(database, now, key)
      for (const statement of DROP) database.run(statement, key)
    }
    return { dropped: bare.length, more: old.length > bare.length || bare.length >= request.limit }
  })
}

function oldest(database: Database, now: number, { rules, limit }: PruneRequest): OldTask[] {
  const named = new Set(rules.map(({ workflow }) => workflow))
  const others = database.all<{ workflow: string }>(WORKFLOWS).filter(({ workflow }) => !named.has(workflow))
  const of = (rule: RetentionRule) =>
    rule.workflow === null ? others.map(({ workflow }) => workflow) : [rule.workflow]
  return rules
    .flatMap((rule) =>
      rule.age === null ? [] : of(rule).map((workflow) => ({ ...rule, workflow, until: now - (rule.age ?? 0) })),
    )
    .flatMap(({ workflow, result, until }) => database.all<OldTask>(OLD, workflow, result, until, limit))
    .sort((a, b) => a.at - b.at || a.key - b.key)
}
