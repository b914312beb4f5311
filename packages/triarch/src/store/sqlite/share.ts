import type { FairShare } from '../../kernel/task/order.ts'
import type { Database } from './database.ts'

const HEAD = `
SELECT coalesce(place, id) AS place FROM triarch_work WHERE agent = ? AND priority = ? AND locked_by IS NULL
ORDER BY coalesce(place, id) LIMIT 1`
const NEXT_ID = "SELECT seq + 1 AS id FROM sqlite_sequence WHERE name = 'triarch_work'"
const OWN = 'SELECT next FROM triarch_shares WHERE queue = ? AND priority = ? AND share = ?'
const KEEP = 'INSERT OR REPLACE INTO triarch_shares (queue, priority, share, next) VALUES (?, ?, ?, ?)'
const FORGET_ALL = 'DELETE FROM triarch_shares WHERE queue = ? AND priority = ?'
/** Drops shares whose next start is past, which are the same as new ones: twice as many as are added, so that there are never many. */
const FORGET = `
DELETE FROM triarch_shares WHERE (queue, priority, share) IN (
  SELECT queue, priority, share FROM triarch_shares WHERE queue = ? AND priority = ? AND next <= ? ORDER BY next LIMIT 2)`

/**
 * Start-time fair queueing (Goyal, Vin and Cheng 1996): a request starts, in virtual time, where the previous one of
 * the same share ends, `1 / weight` after that one's start, but not before the present, which is the start of the first
 * request in the queue. The order of starts is the order of the queue, so no row is ever rewritten. Virtual time counts
 * in requests, from the number of the first.
 */
export function placeIn(database: Database, queue: string, priority: number, { key, weight }: FairShare): number {
  const head = database.get<{ place: number }>(HEAD, queue, priority)?.place
  const present = head ?? database.get<{ id: number }>(NEXT_ID)?.id ?? 1
  // The queue is empty: a share that had more than others so far took it from none, so all start equal.
  if (head === undefined) database.run(FORGET_ALL, queue, priority)
  else database.run(FORGET, queue, priority, present)
  const own = database.get<{ next: number }>(OWN, queue, priority, key)?.next ?? present
  const start = Math.max(present, own)
  database.run(KEEP, queue, priority, key, start + 1 / weight)
  return start
}
