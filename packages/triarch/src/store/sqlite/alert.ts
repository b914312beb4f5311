import type {
  AlertFence,
  AlertPost,
  AlertPostQuery,
  AlertQuery,
  AlertRow,
  AlertSettlement,
  AlertWrite,
} from '../alert.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'
import { leads } from './sweep.ts'

const ROWS = 'SELECT name, revision, open, at, state FROM triarch_alerts'
const NAMED = `${ROWS} WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name`
const AFTER = `${ROWS} WHERE open = ? + 0 AND name > ? ORDER BY name LIMIT ? + 0`
const ENDED = `${ROWS} WHERE open = 0 AND at < ? ORDER BY at, name LIMIT ? + 0`
const CREATE =
  'INSERT INTO triarch_alerts (open, at, state, name, revision) VALUES (?, ?, ?, ?, ? + 1) ON CONFLICT DO NOTHING'
const UPDATE =
  'UPDATE triarch_alerts SET open = ?, at = ?, state = ?, revision = revision + 1 WHERE name = ? AND revision = ?'
const DROP = 'DELETE FROM triarch_alerts WHERE name = ? AND revision = ?'
const POST = 'INSERT INTO triarch_alert_posts (id, sink, due_at, state) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
const POSTS = `
SELECT id, sink, due_at AS dueAt, state FROM triarch_alert_posts WHERE due_at <= ? ORDER BY due_at, id LIMIT ? + 0`
const DEFER = 'UPDATE triarch_alert_posts SET due_at = ?, state = ? WHERE id = ?'
const SETTLE = 'DELETE FROM triarch_alert_posts WHERE id = ?'

type Stored = Omit<AlertRow, 'open'> & { open: number }

export function alerts(database: Database, _now: number, query: AlertQuery): AlertRow[] {
  const rows =
    'names' in query
      ? database.all<Stored>(NAMED, JSON.stringify(query.names))
      : 'open' in query
        ? database.all<Stored>(AFTER, query.open ? 1 : 0, query.after, query.limit)
        : database.all<Stored>(ENDED, query.endedBefore, query.limit)
  return rows.map((row) => ({ ...row, open: row.open === 1 }))
}

export function writeAlert(database: Database, now: number, write: AlertWrite): boolean {
  return database.transaction(() => {
    if (!may(database, now, write.fence) || !written(database, write)) return false
    for (const { id, sink, dueAt, state } of write.posts) database.run(POST, id, sink, dueAt, state)
    if (write.audit) keepAct(database, write.audit)
    return true
  })
}

function written(database: Database, { name, expected, open, at, state }: AlertWrite): boolean {
  if (state === null) return database.run(DROP, name, expected) > 0
  return database.run(expected === 0 ? CREATE : UPDATE, open ? 1 : 0, at, state, name, expected) > 0
}

export function alertPosts(database: Database, _now: number, { due, limit }: AlertPostQuery): AlertPost[] {
  return database.all<AlertPost>(POSTS, due, limit).map((row) => ({ ...row }))
}

export function settleAlertPost(database: Database, now: number, { id, next, fence }: AlertSettlement): boolean {
  return database.transaction(() => {
    if (!may(database, now, fence)) return false
    return (next ? database.run(DEFER, next.dueAt, next.state, id) : database.run(SETTLE, id)) > 0
  })
}

function may(database: Database, now: number, fence: AlertFence): boolean {
  return fence === null || leads(database, fence, now)
}
