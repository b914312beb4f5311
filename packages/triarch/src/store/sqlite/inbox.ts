import type { Message } from '../../kernel/message.ts'
import type { Letter, Post } from '../port.ts'
import type { Database } from './database.ts'

const POST = `
INSERT INTO triarch_inbox (task, owner, control, message)
SELECT key, locked_by, ?, ? FROM triarch_tasks WHERE id = ? RETURNING task, owner`
const DELIVER = `
INSERT INTO triarch_inbox (task, owner, control, message)
SELECT key, locked_by, 0, ? FROM triarch_tasks WHERE key = ? RETURNING task, owner`
const RAISE = `
UPDATE triarch_tasks SET ready = 1, control = max(control, ?)
WHERE key = ? AND locked_by IS NULL AND (ready = 0 OR control < ?)`
const OF_OWNER = `
SELECT id, task AS key, message FROM triarch_inbox WHERE owner = ? ORDER BY id LIMIT ?`

interface Delivered {
  task: number
  owner: string | null
}

export function post(database: Database, _now: number, posts: readonly Post[]): boolean[] {
  return database.transaction(() => posts.map((it) => postOne(database, it)))
}

/** Inside an open transaction: a letter for an owned task goes to its owner, any other makes its task claimable. */
export function postOne(database: Database, { task, message, control }: Post): boolean {
  const flag = control ? 1 : 0
  const delivered = database.get<Delivered>(POST, flag, JSON.stringify(message), task)
  if (delivered?.owner === null) database.run(RAISE, flag, delivered.task, flag)
  return delivered !== undefined
}

/** The same by key, for replies. */
export function deliver(database: Database, key: number, message: Message): void {
  const delivered = database.get<Delivered>(DELIVER, JSON.stringify(message), key)
  if (delivered?.owner === null) database.run(RAISE, 0, key, 0)
}

export function inbox(database: Database, _now: number, node: string, limit: number): Letter[] {
  return database.all<LetterRow>(OF_OWNER, node, limit).map(letterOf)
}

export interface LetterRow {
  id: number
  key: number
  message: string
}

export function letterOf({ id, key, message }: LetterRow): Letter {
  return { id, key, message: JSON.parse(message) as Message }
}
