import type { Share } from '../../kernel/task/order.ts'
import type { Database } from './database.ts'

const HEAD = `
SELECT coalesce(place, id) AS place FROM triarch_work WHERE agent = ? AND priority = ? AND locked_by IS NULL
ORDER BY coalesce(place, id) LIMIT 1`
const NEXT_ID = "SELECT seq + 1 AS id FROM sqlite_sequence WHERE name = 'triarch_work'"
const OWN = 'SELECT next FROM triarch_shares WHERE queue = ? AND priority = ? AND share = ?'
const KEEP = 'INSERT OR REPLACE INTO triarch_shares (queue, priority, share, next) VALUES (?, ?, ?, ?)'
const FORGET_ALL = 'DELETE FROM triarch_shares WHERE queue = ? AND priority = ?'
/** Who would not begin later than anybody new. Twice as many as come, so that they are never many. */
const FORGET = `
DELETE FROM triarch_shares WHERE (queue, priority, share) IN (
  SELECT queue, priority, share FROM triarch_shares WHERE queue = ? AND priority = ? AND next <= ? ORDER BY next LIMIT 2)`

/**
 * Start-time fair queueing (Goyal, Vin and Cheng 1996): a request starts, in virtual time, where the one before it of the same share ends,
 * `1 / weight` after that one's start; and not before the present, which is the start of whoever is next. The order of starts
 * is the order of the queue, so nothing is written again. Virtual time counts in requests, from the number of the first.
 */
export function placeIn(database: Database, queue: string, priority: number, { key, weight }: Share): number {
  const head = database.get<{ place: number }>(HEAD, queue, priority)?.place
  const present = head ?? database.get<{ id: number }>(NEXT_ID)?.id ?? 1
  // Nobody waits: whoever had more than others so far took it from nobody.
  if (head === undefined) database.run(FORGET_ALL, queue, priority)
  else database.run(FORGET, queue, priority, present)
  const own = database.get<{ next: number }>(OWN, queue, priority, key)?.next ?? present
  const start = Math.max(present, own)
  database.run(KEEP, queue, priority, key, start + 1 / weight)
  return start
}
