import type { Operation } from '../../kernel/event.ts'
import type { Claim, ClaimRequest } from '../port.ts'
import type { Database } from './database.ts'
import { type LetterRow, letterOf } from './inbox.ts'
import { releaseStrays } from './release.ts'
import { replayOf } from './replay.ts'

/** Sleepers woken by one claim: bounds how long a pile of them, due at the same instant, holds the store. */
const WAKE_LIMIT = 1_000

const NEXT = 'SELECT wake_at FROM triarch_tasks WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1'
const WAKE = `
UPDATE triarch_tasks SET ready = 1, wake_at = NULL
WHERE key IN (SELECT key FROM triarch_tasks WHERE wake_at <= ? ORDER BY wake_at LIMIT ?)`
const READY = `
SELECT key, priority FROM triarch_tasks WHERE ready = 1 AND workflow = ? AND version = ?
ORDER BY priority DESC, key LIMIT ?`
const CONTROL = 'SELECT key, priority FROM triarch_tasks WHERE control = 1 ORDER BY priority DESC, key LIMIT ?'
const TASK = 'SELECT id, workflow, version, epoch, orphaned, base_seq FROM triarch_tasks WHERE key = ?'
const TAKE = `
UPDATE triarch_tasks SET locked_by = ?, epoch = epoch + 1, ready = 0, control = 0, orphaned = 0, wake_at = NULL
WHERE key = ?`
const HAS_LETTERS = 'SELECT 1 FROM triarch_inbox WHERE task = ? LIMIT 1'
const TAKE_LETTERS = 'UPDATE triarch_inbox SET owner = ? WHERE task = ?'
const LETTERS = 'SELECT id, task AS key, message FROM triarch_inbox WHERE task = ? ORDER BY id'
const WORK = 'SELECT step, operation, attempt FROM triarch_work WHERE task = ? ORDER BY id'

interface Candidate {
  key: number
  priority: number
}

interface ClaimedRow {
  id: string
  workflow: string
  version: string
  epoch: number
  orphaned: number
  base_seq: number
}

export function claim(database: Database, now: number, { node, runnable, limit, held }: ClaimRequest): Claim[] {
  if (held) database.transaction(() => releaseStrays(database, node, held))
  const due = (nextWake(database) ?? Infinity) <= now
  if (!due && candidates(database, runnable, 1).length === 0) return [] // an idle poll takes no write lock
  return database.transaction(() => {
    if (due) database.run(WAKE, now, Math.max(limit, WAKE_LIMIT))
    return candidates(database, runnable, limit).map(({ key }) => take(database, key, node))
  })
}

export function nextWake(database: Database): number | null {
  return database.get<{ wake_at: number }>(NEXT)?.wake_at ?? null
}

/** The best of each workflow version's queue and of the control queue, merged: pile-ups elsewhere cost nothing. */
function candidates(database: Database, runnable: ClaimRequest['runnable'], limit: number): Candidate[] {
  const best = new Map<number, Candidate>()
  for (const row of database.all<Candidate>(CONTROL, limit)) best.set(row.key, row)
  for (const { workflow, version } of runnable) {
    for (const row of database.all<Candidate>(READY, workflow, version, limit)) best.set(row.key, row)
  }
  return [...best.values()].sort((a, b) => b.priority - a.priority || a.key - b.key).slice(0, limit)
}

function take(database: Database, key: number, node: string): Claim {
  const row = database.get<ClaimedRow>(TASK, key) as ClaimedRow
  database.run(TAKE, node, key)
  return {
    key,
    id: row.id,
    workflow: row.workflow,
    version: row.version,
    epoch: row.epoch + 1,
    orphaned: row.orphaned === 1,
    records: replayOf(database, key, row.base_seq),
    letters: database.get(HAS_LETTERS, key) ? takeLetters(database, key, node) : [],
    work: database
      .all<{ step: number; operation: Operation; attempt: number }>(WORK, key)
      .map(({ step, operation, attempt }) => ({ step, operation, attempt })),
  }
}

function takeLetters(database: Database, key: number, node: string): Claim['letters'] {
  database.run(TAKE_LETTERS, node, key)
  return database.all<LetterRow>(LETTERS, key).map(letterOf)
}
