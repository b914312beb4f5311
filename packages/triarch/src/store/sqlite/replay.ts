import type { HistoryRecord } from '../port.ts'
import type { Database } from './database.ts'

const BASE = 'SELECT key, base_seq AS base FROM triarch_tasks WHERE id = ?'
const FROM = 'SELECT seq, at, events FROM triarch_history WHERE task = ? AND seq >= ? ORDER BY seq'
const FIRST = 'SELECT seq, at, events FROM triarch_history WHERE task = ? AND seq = 1'

export function replay(database: Database, _now: number, id: string): HistoryRecord[] {
  const task = database.get<{ key: number; base: number }>(BASE, id)
  return task ? replayOf(database, task.key, task.base) : []
}

/** What a rebuild needs: the submission, and the history since it was last cut short. */
export function replayOf(database: Database, key: number, base: number): HistoryRecord[] {
  const first = base > 1 ? database.all<HistoryRecord>(FIRST, key) : []
  return [...first, ...database.all<HistoryRecord>(FROM, key, base)].map(({ seq, at, events }) => ({ seq, at, events }))
}
