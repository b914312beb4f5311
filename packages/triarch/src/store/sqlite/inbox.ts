import type { Message } from '../../kernel/message.ts'
import type { Amount } from '../../kernel/wait/buffered-signal.ts'
import { objectOf, parseMessage } from '../legible.ts'
import {
  INBOX_BYTES,
  type InboxBounds,
  type InboxMessage,
  type Post,
  type PostOutcome,
  type PostRoom,
  type PostTerms,
  type TaskInboxBounds,
} from '../port.ts'
import { countedName } from '../post.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'

const POST = `
INSERT INTO triarch_inbox (task, owner, control, kind, name, message)
SELECT key, locked_by, ?, ?, ?, ? FROM triarch_tasks WHERE id = ? RETURNING task, owner`
const DELIVER = `
INSERT INTO triarch_inbox (task, owner, control, kind, name, message)
SELECT key, locked_by, 0, ?, ?, ? FROM triarch_tasks WHERE key = ? RETURNING task, owner`
const RAISE = `
UPDATE triarch_tasks SET ready = 1, control = max(control, ?)
WHERE key = ? AND locked_by IS NULL AND (ready = 0 OR control < ?)`
const STATE = `
SELECT key, CASE status WHEN 'stopped' THEN status || '/' || result ELSE status END AS state
FROM triarch_tasks WHERE id = ?`
const PAUSES = "SELECT 1 FROM triarch_inbox WHERE task = ? AND kind = 'pause' LIMIT 1"
const AMOUNT =
  'SELECT count(*) AS letters, coalesce(sum(octet_length(message)), 0) AS bytes FROM triarch_inbox WHERE task = ?'
const SIGNALS = `${AMOUNT} AND kind IN ('event', 'signal')`
const SUCH = 'SELECT count(*) AS letters FROM triarch_inbox WHERE task = ?1 AND kind = ?2 AND (?3 IS NULL OR name = ?3)'
const LAST = 'SELECT max(seq) AS last FROM triarch_history WHERE task = ?'
/** The messages by which the task itself reported how much it retains. */
const KEPT = "SELECT message FROM triarch_inbox WHERE task = ? AND kind = 'kept'"
/** The texts are not selected, so that messages beyond the bounds are not even read. */
const OF_OWNER = `
SELECT id, task, octet_length(message) AS size FROM triarch_inbox WHERE owner = ? ORDER BY id LIMIT ? + 0`
const OWNED = 'SELECT key FROM triarch_tasks WHERE locked_by = ? AND key > ? ORDER BY key'
const OF_TASK = `
SELECT id, task, octet_length(message) AS size FROM triarch_inbox WHERE task = ? AND id > ? ORDER BY id LIMIT ? + 0`
const MESSAGE = 'SELECT id, task AS key, message FROM triarch_inbox WHERE id = ?'

interface Delivered {
  task: number
  owner: string | null
}

export function post(database: Database, _now: number, posts: readonly Post[]): PostOutcome[] {
  return database.transaction(() =>
    posts.map((it) => {
      const outcome =
        (it.terms && judge(database, it, it.terms)) ?? (postOne(database, it) ? 'posted' : ('unknown' as const))
      if (it.audit && outcome === 'posted') keepAct(database, it.audit)
      return outcome
    }),
  )
}

/** Returns why the task does not accept the message; null if it does. */
function judge(database: Database, { task, message }: Post, { fits, room }: PostTerms): PostOutcome | null {
  const found = database.get<{ key: number; state: string }>(STATE, task)
  if (!found) return 'unknown'
  if (!fits.includes(found.state) && !(fits.includes('paused') && willPause(database, found))) return 'unfit'
  return room && !hasRoom(database, found.key, message, room) ? 'full' : null
}

/** Messages are consumed in order, so a task with an unread `pause` is paused before it consumes a new message. */
function willPause(database: Database, { key, state }: { key: number; state: string }): boolean {
  return !state.startsWith('stopped/') && database.get(PAUSES, key) !== undefined
}

function hasRoom(database: Database, key: number, message: Message, room: PostRoom): boolean {
  const { only, asOf } = room
  if (asOf !== null && database.get<{ last: number }>(LAST, key)?.last !== asOf) return false
  if (only !== null) return (database.get<Amount>(SUCH, key, only.kind, only.name)?.letters ?? 0) < room.letters
  const size = Buffer.byteLength(JSON.stringify(message))
  const said = database.all<{ message: string }>(KEPT, key).flatMap(({ message }) => objectOf<Amount>(message) ?? [])
  const kept = said.length === 0 ? room.unsaid : sum(said)
  const fits = ({ letters, bytes }: Amount) =>
    letters + kept.letters < room.letters &&
    (bytes + kept.bytes + size <= room.bytes || (letters === 0 && said.length === 0))
  const amount = (sql: string) => database.get<Amount>(sql, key) ?? { letters: 0, bytes: 0 }
  // Events and signals are counted by themselves only if all messages together leave no room.
  return fits(amount(AMOUNT)) || fits(amount(SIGNALS))
}

function sum(all: readonly Amount[]): Amount {
  const total = { letters: 0, bytes: 0 }
  for (const { letters, bytes } of all) {
    total.letters += letters
    total.bytes += bytes
  }
  return total
}

/** Posts a message inside an open transaction: for an owned task it goes to the owner, otherwise it makes the task claimable. */
export function postOne(database: Database, { task, message, control }: Post): boolean {
  const flag = control ? 1 : 0
  const delivered = database.get<Delivered>(
    POST,
    flag,
    message.type,
    countedName(message),
    JSON.stringify(message),
    task,
  )
  if (delivered?.owner === null) database.run(RAISE, flag, delivered.task, flag)
  return delivered !== undefined
}

/** Like `postOne`, by key, for replies. */
export function deliver(database: Database, key: number, message: Message): void {
  const delivered = database.get<Delivered>(DELIVER, message.type, countedName(message), JSON.stringify(message), key)
  if (delivered?.owner === null) database.run(RAISE, 0, key, 0)
}

export function inbox(
  database: Database,
  _now: number,
  node: string,
  limit: number,
  bounds?: InboxBounds | null,
): InboxMessage[] {
  const { bytes = INBOX_BYTES, each, held = [] } = bounds ?? {}
  if (!each) {
    const all = database.all<Sized>(OF_OWNER, node, limit)
    const fit = fitting(all, { limit, bytes })
    const more = all.length === limit || fit.length < all.length
    const known = new Set(held)
    const told = fit.filter(({ id }, index) => !known.has(id) || (more && index === fit.length - 1))
    return marked(read(database, told), more)
  }
  const left = { limit, bytes }
  const busy = new Set(each.skip)
  const found: Sized[] = []
  for (const { key } of database.all<{ key: number }>(OWNED, node, each.after)) {
    if (busy.has(key)) continue
    const most = { limit: Math.min(each.limit, left.limit), bytes: Math.min(each.bytes, left.bytes) }
    const some = fitting(database.all<Sized>(OF_TASK, key, 0, most.limit), most)
    for (const { size } of some) {
      left.limit--
      left.bytes -= size
    }
    found.push(...some)
    if (left.limit <= 0 || left.bytes <= 0) break
  }
  return marked(read(database, found), left.limit <= 0 || left.bytes <= 0)
}

export function taskInbox(
  database: Database,
  _now: number,
  key: number,
  after: number,
  most: TaskInboxBounds,
): InboxMessage[] {
  return messagesOf(database, key, after, most)
}

export function messagesOf(database: Database, key: number, after: number, most: TaskInboxBounds): InboxMessage[] {
  return read(database, fitting(database.all<Sized>(OF_TASK, key, after, most.limit), most))
}

function marked(letters: InboxMessage[], more: boolean): InboxMessage[] {
  const last = letters.at(-1)
  if (last && more) last.more = true
  return letters
}

interface Sized {
  id: number
  task: number
  size: number
}

/** Returns the messages up to the one that reaches a bound. */
function fitting(all: readonly Sized[], { limit, bytes }: TaskInboxBounds): Sized[] {
  let left = bytes
  return all.slice(0, limit).filter(({ size }) => {
    const fits = left > 0
    left -= size
    return fits
  })
}

function read(database: Database, all: readonly Sized[]): InboxMessage[] {
  return all.map(({ id }) => inboxMessageOf(database.get<InboxRow>(MESSAGE, id) as InboxRow))
}

interface InboxRow {
  id: number
  key: number
  message: string
}

function inboxMessageOf({ id, key, message }: InboxRow): InboxMessage {
  return { id, key, message: parseMessage(message) }
}
