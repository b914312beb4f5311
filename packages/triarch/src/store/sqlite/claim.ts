import type { Operation } from '../../kernel/step/step.ts'
import { MOST_LEVELS } from '../claim.ts'
import { CLAIM_BOUNDS, type Claim, type ClaimRequest } from '../port.ts'
import type { Database } from './database.ts'
import { messagesOf } from './inbox.ts'
import { releaseStrays } from './release.ts'
import { pageOf, sizeOf } from './replay.ts'

/** Most sleeping tasks woken by one claim: bounds how long many of them, due at the same instant, occupy the store. */
const WAKE_LIMIT = 1_000

const NEXT = 'SELECT wake_at FROM triarch_tasks WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1'
const DUE = 'SELECT key FROM triarch_tasks WHERE wake_at <= ? ORDER BY wake_at, key LIMIT ? + 0'
const WAKE = 'UPDATE triarch_tasks SET ready = 1, wake_at = NULL WHERE key = ?'
const LINE = 'coalesce(readied, key)'
const READY = `
SELECT key, priority, ${LINE} AS place FROM triarch_tasks WHERE ready = 1 AND workflow = ? AND version = ? AND suspicion < 2
ORDER BY priority DESC, ${LINE} LIMIT ? + 0`
const CONTROL = `
SELECT key, priority, ${LINE} AS place FROM triarch_tasks WHERE control = 1 AND suspicion < 2
ORDER BY priority DESC, ${LINE} LIMIT ? + 0`
/** Finds the next lower priority in the queue. */
const LEVEL = `
SELECT priority FROM triarch_tasks WHERE ready = 1 AND workflow = ? AND version = ? AND priority < ? ORDER BY priority DESC LIMIT 1`
const READY_AT = `
SELECT key, priority, ${LINE} AS place, updated_at AS since FROM triarch_tasks
WHERE ready = 1 AND workflow = ? AND version = ? AND priority = ? AND suspicion < 2 ORDER BY priority DESC, ${LINE} LIMIT ? + 0`
const CONTROL_SINCE = `
SELECT key, priority, ${LINE} AS place, updated_at AS since FROM triarch_tasks WHERE control = 1 AND suspicion < 2
ORDER BY priority DESC, ${LINE} LIMIT ? + 0`
const STRIKES = 'strikes + (on_trial AND orphaned)'
/** Tasks on probation with the fewest strikes come first, so that harmless tasks go on before another owner dies. */
const SUSPECTS = `
SELECT key, ${STRIKES} AS strikes, priority, ${LINE} AS place FROM triarch_tasks WHERE ready = 1 AND suspicion >= 2
  AND key NOT IN (SELECT value FROM json_each(?))
  AND (control = 1 OR EXISTS (SELECT 1 FROM json_each(?) r
    WHERE r.value ->> 'workflow' = triarch_tasks.workflow AND r.value ->> 'version' = triarch_tasks.version))
ORDER BY ${STRIKES}, ${LINE} LIMIT ? + 0`
const SUSPECT = 'SELECT 1 FROM triarch_tasks WHERE ready = 1 AND suspicion >= 2 LIMIT 1'
const TASK = `
SELECT id, workflow, version, epoch, ready, control, orphaned, base_seq, suspicion, strikes, on_trial FROM triarch_tasks WHERE key = ?`
const TAKE = `
UPDATE triarch_tasks SET locked_by = ?, epoch = epoch + 1, ready = 0, control = 0, orphaned = 0, wake_at = NULL,
  suspicion = 0 WHERE key = ?`
/** Suspicion rises if the task has no new record since it was last claimed as an orphan: it may be what kills its owners. */
const TAKE_ORPHAN = `
UPDATE triarch_tasks SET locked_by = ?1, epoch = epoch + 1, ready = 0, control = 0, orphaned = 0, wake_at = NULL,
  suspicion = CASE WHEN ?3 OR claimed_seq = (SELECT max(seq) FROM triarch_history WHERE task = ?2) THEN suspicion + 1 ELSE 1 END,
  claimed_seq = (SELECT max(seq) FROM triarch_history WHERE task = ?2),
  strikes = ${STRIKES}, on_trial = ?3
WHERE key = ?2`
const TAKE_MESSAGES = 'UPDATE triarch_inbox SET owner = ? WHERE task = ?'
const WORK = 'SELECT step, operation, attempt FROM triarch_work WHERE task = ? ORDER BY id'

interface ClaimCandidate {
  key: number
  priority: number
  place: number
}

interface ClaimedRow {
  id: string
  workflow: string
  version: string
  epoch: number
  ready: number
  control: number
  orphaned: number
  base_seq: number
  strikes: number
  on_trial: number
}

export function claim(database: Database, now: number, request: ClaimRequest): Claim[] {
  const { node, limit, held, trial } = request
  if (held) database.transaction(() => releaseStrays(database, node, held))
  const due = (nextWake(database) ?? Infinity) <= now
  const ready = candidates(database, request, 2)
  const suspect = trial === true && database.get(SUSPECT) !== undefined && suspects(database, request, 1).length > 0
  // An idle poll takes no write lock.
  if (!due && ready.length === 0 && !suspect) return []
  const first = due || suspect || ready.length > 1 ? undefined : ready[0]
  const taken = first && isFirst(database, first) ? takeFirst(database, first, request) : null
  if (taken) return taken
  return database.transaction(() => {
    if (due) wake(database, now, Math.max(limit, WAKE_LIMIT))
    const tried = trial ? suspects(database, request, Math.min(limit, CLAIM_BOUNDS.trials)) : []
    if (tried.length > 0) return takeAll(database, tried, { ...request, trial: true })
    return takeAll(database, candidates(database, request, limit), { ...request, trial: false })
  })
}

/**
 * Claims a single task that was never claimed before, without a flush of its own. Before the node acts on this claim it
 * writes a record, and with that the claim is durable; if a power cut undoes both, nothing has happened. A task that
 * was claimed before may have attempts that begin without a record. Returns null if another node was quicker.
 */
function takeFirst(database: Database, first: ClaimCandidate, request: ClaimRequest): Claim[] | null {
  return database.unflushed(() => {
    if (!isFirst(database, first)) return null
    return takeAll(database, [first], { ...request, trial: false })
  })
}

function isFirst(database: Database, { key }: ClaimCandidate): boolean {
  const row = database.get<ClaimedRow>(TASK, key)
  return row?.epoch === 0 && (row.ready === 1 || row.control === 1)
}

export function nextWake(database: Database): number | null {
  return database.get<{ wake_at: number }>(NEXT)?.wake_at ?? null
}

/** Wakes the tasks one by one, so that they are queued in the order of their wake-up times. */
function wake(database: Database, now: number, limit: number): void {
  for (const { key } of database.all<{ key: number }>(DUE, now, limit)) database.run(WAKE, key)
}

/** Merges the first tasks of each workflow version's queue and of the control queue: long queues of other versions cost nothing. */
function candidates(database: Database, request: ClaimRequest, limit: number): ClaimCandidate[] {
  const { runnable, except = [], ageing = 0 } = request
  if (ageing > 0) return aged(database, request, ageing, limit)
  const best = new Map<number, ClaimCandidate>()
  const most = limit + except.length
  for (const row of database.all<ClaimCandidate>(CONTROL, most)) best.set(row.key, row)
  for (const { workflow, version } of runnable) {
    for (const row of database.all<ClaimCandidate>(READY, workflow, version, most)) best.set(row.key, row)
  }
  for (const key of except) best.delete(key)
  return [...best.values()].sort((a, b) => b.priority - a.priority || a.place - b.place).slice(0, limit)
}

/** Like `candidates` with ageing: merges the first tasks of all priorities. */
function aged(
  database: Database,
  { runnable, except = [] }: ClaimRequest,
  ageing: number,
  limit: number,
): ClaimCandidate[] {
  const most = limit + except.length
  const best = new Map<number, { candidate: ClaimCandidate; rank: number }>()
  const add = (rows: readonly (ClaimCandidate & { since: number })[]) => {
    let last = Number.NEGATIVE_INFINITY
    for (const { since, ...candidate } of rows) {
      last = Math.max(last, since)
      const rank = candidate.priority * ageing - last
      const known = best.get(candidate.key)
      if (!known || known.rank < rank) best.set(candidate.key, { candidate, rank })
    }
  }
  for (const row of database.all<ClaimCandidate & { since: number }>(CONTROL_SINCE, most)) add([row])
  for (const { workflow, version } of runnable) {
    let above: number | undefined = Number.MAX_SAFE_INTEGER
    for (let levels = 0; levels < MOST_LEVELS; levels++) {
      above = database.get<{ priority: number }>(LEVEL, workflow, version, above)?.priority
      if (above === undefined) break
      add(database.all(READY_AT, workflow, version, above, most))
    }
  }
  for (const key of except) best.delete(key)
  const order = [...best.values()].sort((a, b) => b.rank - a.rank || a.candidate.place - b.candidate.place)
  return order.slice(0, limit).map(({ candidate }) => candidate)
}

/** Tasks on probation during which no owner has died may be tried together; any other is tried alone. */
function suspects(database: Database, { runnable, except = [] }: ClaimRequest, limit: number): ClaimCandidate[] {
  const [left, mine] = [JSON.stringify(except), JSON.stringify(runnable)]
  const found = database.all<ClaimCandidate & { strikes: number }>(SUSPECTS, left, mine, limit)
  return found.filter(({ strikes }, index) => index === 0 || strikes === 0)
}

/** A single task takes nothing that another task of the answer needs. */
const NOTHING = { records: 0, bytes: 0 }

/** Claims as many tasks as fit the answer, in order; at least one. */
function takeAll(database: Database, all: readonly ClaimCandidate[], request: ClaimRequest): Claim[] {
  const left = { records: request.records ?? CLAIM_BOUNDS.records, bytes: request.bytes ?? CLAIM_BOUNDS.bytes }
  const letters = { left: left.bytes }
  const claims: Claim[] = []
  for (const { key } of all) {
    const { records, bytes } = all.length === 1 ? NOTHING : sizeOf(database, key, left.records)
    if (claims.length > 0 && (records > left.records || bytes > left.bytes)) {
      ;(claims.at(-1) as Claim).more = true
      return claims
    }
    left.records -= records
    left.bytes -= bytes
    const claim = take(database, key, request, letters.left)
    letters.left -= bytesOf(claim)
    claims.push(claim)
  }
  const last = claims.at(-1)
  if (last && all.length === request.limit) last.more = true
  return claims
}

function bytesOf({ letters }: Claim): number {
  return letters.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0)
}

function take(
  database: Database,
  key: number,
  { node, trial, records = CLAIM_BOUNDS.records, bytes = CLAIM_BOUNDS.bytes }: ClaimRequest,
  letters: number,
): Claim {
  const row = database.get<ClaimedRow>(TASK, key) as ClaimedRow
  if (row.orphaned === 1 || trial) database.run(TAKE_ORPHAN, node, key, trial ? 1 : 0)
  else database.run(TAKE, node, key)
  const page = pageOf(database, { key, base: row.base_seq, after: 0 }, { records, bytes })
  const unread = database.run(TAKE_MESSAGES, node, key)
  const bounds = { limit: CLAIM_BOUNDS.letters, bytes: Math.min(CLAIM_BOUNDS.letterBytes, letters) }
  const read = unread > 0 ? messagesOf(database, key, 0, bounds) : []
  return {
    key,
    id: row.id,
    workflow: row.workflow,
    version: row.version,
    epoch: row.epoch + 1,
    orphaned: row.orphaned === 1,
    records: page.records,
    letters: read,
    work: database
      .all<{ step: number; operation: Operation; attempt: number }>(WORK, key)
      .map(({ step, operation, attempt }) => ({ step, operation, attempt })),
    ...(page.more && { rest: sizeOf(database, key).bytes }),
    ...(read.length < unread && { unread: true as const }),
    ...(trial && { trial: { strikes: row.strikes + (row.orphaned === 1 ? row.on_trial : 0) } }),
  }
}
