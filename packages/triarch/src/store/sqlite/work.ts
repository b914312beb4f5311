import type { Message, Outcome } from '../../kernel/message.ts'
import type { Operation } from '../../kernel/step/step.ts'
import { spanOf } from '../head.ts'
import { ASK_AGAIN, parseRequest } from '../legible.ts'
import type {
  QueuedReply,
  RequestMark,
  TakeWork,
  WorkAdoption,
  WorkHeartbeat,
  WorkHeartbeatOutcome,
  WorkItem,
  WorkRequest,
} from '../port.ts'
import type { Database } from './database.ts'
import { deliver } from './inbox.ts'
import { permitsLeft, takePermit } from './permit.ts'
import { placeIn } from './share.ts'

/**
 * A new request for the same attempt replaces the old row, and with it the id: a reply of an agent that still runs the
 * old one is late.
 */
const REQUEST = `
INSERT OR REPLACE INTO triarch_work (task, step, operation, attempt, agent, action, priority, complete_within,
  heartbeat_within, expires_at, request)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const PLACED = REQUEST.replace('request)', 'request, place)').replace('?)', '?, ?)')
const WITHDRAW_QUEUED = `
DELETE FROM triarch_work WHERE task = ? AND step = ? AND locked_by IS NULL RETURNING step, operation, attempt`
const WITHDRAW_TAKEN = 'UPDATE triarch_work SET withdrawn = 1 WHERE task = ? AND step = ?'
const WAITING = `
SELECT 1 FROM triarch_work WHERE agent = ? AND locked_by IS NULL AND action IN (SELECT value FROM json_each(?)) LIMIT 1`
const TAKE = `
UPDATE triarch_work SET locked_by = ?1, heartbeat_by = ?2 + heartbeat_within,
  complete_by = min(?2 + complete_within, coalesce(expires_at, 9007199254740991))
WHERE id IN (SELECT id FROM triarch_work
             WHERE agent = ?3 AND locked_by IS NULL AND action IN (SELECT value FROM json_each(?4))
               AND (expires_at IS NULL OR expires_at > ?2)
             ORDER BY priority DESC, coalesce(place, id) LIMIT ?5 + 0)
RETURNING id, task, step, operation, attempt, priority, coalesce(place, id) AS place, request, complete_by, heartbeat_within`
/** Variants for some priorities only. */
const TAKE_RANKED = TAKE.replace('ORDER BY', 'AND priority >= ?6 AND priority < ?7 ORDER BY')
const WAITING_RANKED = WAITING.replace('LIMIT 1', 'AND priority >= ? AND priority < ? LIMIT 1')
const urgent = (take: string) => take.replace('ORDER BY priority', "ORDER BY operation = 'run', priority")
const TAKE_URGENT = urgent(TAKE)
const TAKE_RANKED_URGENT = urgent(TAKE_RANKED)
const TAKE_BACK_ILLEGIBLE = 'DELETE FROM triarch_work WHERE id = ?'
/** A store that went back gives numbers again, so a reply to a lost request must not match the request that has its number now. */
const SAME = `(?3 IS NULL OR (step = ?4 AND operation = ?5 AND attempt = ?6 AND task = (SELECT key FROM triarch_tasks WHERE id = ?3)))`
const TAKE_BACK = `DELETE FROM triarch_work WHERE id = ?1 AND locked_by = ?2 AND ${SAME} RETURNING task`
const BEAT = `
UPDATE triarch_work SET heartbeat_by = ?7 + heartbeat_within WHERE id = ?1 AND locked_by = ?2 AND ${SAME}
RETURNING task, withdrawn`

const ADOPT = `
UPDATE triarch_work SET locked_by = ?8, heartbeat_by = ?7 + heartbeat_within WHERE id = ?1 AND locked_by IN (?2, ?8) AND ${SAME}
RETURNING id, agent, request, complete_by, heartbeat_within`

/** The part of an outstanding attempt that a message about it needs. */
export interface AttemptRow {
  step: number
  operation: Operation
  attempt: number
}

interface TakenRow extends AttemptRow {
  id: number
  task: number
  priority: number
  place: number
  request: string
  complete_by: number
  heartbeat_within: number | null
}

export function requestWork(database: Database, key: number, work: WorkRequest): void {
  const { step, operation, attempt, agent, action, priority, completeWithin, heartbeatWithin, expiresAt } = work
  const row = [key, step, operation, attempt, agent, action, priority, completeWithin, heartbeatWithin, expiresAt]
  const { share } = work.request
  if (share) database.run(PLACED, ...row, JSON.stringify(work.request), placeIn(database, agent, priority, share))
  else database.run(REQUEST, ...row, JSON.stringify(work.request))
}

export function withdrawWork(database: Database, key: number, step: number, at: number): void {
  for (const row of database.all<AttemptRow>(WITHDRAW_QUEUED, key, step)) {
    deliver(database, key, replyFor(row, { kind: 'withdrawn' }, at, null))
  }
  database.run(WITHDRAW_TAKEN, key, step)
}

/** Makes a reply on behalf of an agent that gave none. */
export function replyFor(row: AttemptRow, outcome: Outcome, at: number, node: string | null): Message {
  const { step, operation, attempt } = row
  return { type: 'reply', step, operation, attempt, outcome, startedAt: null, endedAt: at, node }
}

export function takeWork(database: Database, now: number, { node, agents }: TakeWork): WorkItem[] {
  const wanted = agents.map((share) => ({ ...share, actions: JSON.stringify(share.actions) }))
  const waiting = wanted.filter(
    ({ agent, actions, limit, seats, ranks }) =>
      limit > 0 &&
      (ranks
        ? database.get(WAITING_RANKED, agent, actions, ...spanOf(ranks))
        : database.get(WAITING, agent, actions)) &&
      (!seats || permitsLeft(database, seats) > 0),
  )
  if (waiting.length === 0) return [] // an idle poll takes no write lock
  return database.transaction(() =>
    waiting.flatMap(({ agent, actions, limit, urgent, seats, ranks }) => {
      const most = seats ? Math.min(limit, permitsLeft(database, seats)) : limit
      const given = [node, now, agent, actions, most]
      const rows = ranks
        ? database.all<TakenRow>(urgent ? TAKE_RANKED_URGENT : TAKE_RANKED, ...given, ...spanOf(ranks))
        : database.all<TakenRow>(urgent ? TAKE_URGENT : TAKE, ...given)
      if (seats)
        takePermit(
          database,
          seats,
          rows.map(({ id }) => id),
        )
      return rows
        .sort((a, b) => b.priority - a.priority || a.place - b.place || a.id - b.id)
        .flatMap((row) => {
          const request = parseRequest(row.request)
          if (request)
            return { id: row.id, agent, request, completeBy: row.complete_by, heartbeatWithin: row.heartbeat_within }
          // The owner of the task makes the request again from its history; the others are taken all the same.
          if (database.run(TAKE_BACK_ILLEGIBLE, row.id) > 0)
            deliver(database, row.task, replyFor(row, { kind: 'withdrawn', after: ASK_AGAIN }, now, node))
          return []
        })
    }),
  )
}

export function adoptWork(database: Database, now: number, adoptions: readonly WorkAdoption[]): (WorkItem | null)[] {
  return database.transaction(() =>
    adoptions.map(({ work, node, to, of }) => {
      const row = database.get<TakenRow & { agent: string }>(ADOPT, work, node, ...markOf(of), now, to)
      const request = row && parseRequest(row.request)
      if (!request) return null
      const { id, agent, complete_by: completeBy, heartbeat_within: heartbeatWithin } = row
      return { id, agent, request, completeBy, heartbeatWithin }
    }),
  )
}

export function reply(database: Database, _now: number, replies: readonly QueuedReply[]): boolean[] {
  return database.transaction(() =>
    replies.map(({ work, node, of, message }) => {
      const row = database.get<{ task: number }>(TAKE_BACK, work, node, ...markOf(of))
      if (row) deliver(database, row.task, message)
      return row !== undefined
    }),
  )
}

function markOf(of: RequestMark | undefined): (string | number | null)[] {
  return of ? [of.task, of.step, of.operation, of.attempt] : [null, null, null, null]
}

export function heartbeatWork(
  database: Database,
  now: number,
  beats: readonly WorkHeartbeat[],
): WorkHeartbeatOutcome[] {
  return database.transaction(() =>
    beats.map(({ work, node, of, message }) => {
      const row = database.get<{ task: number; withdrawn: number }>(BEAT, work, node, ...markOf(of), now)
      if (!row) return 'late'
      if (message) deliver(database, row.task, message)
      return row.withdrawn === 1 ? 'withdrawn' : 'ok'
    }),
  )
}
