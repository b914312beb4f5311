import { LINE_COST, LOG_KEPT, type LogQuery, type LogRow, type LogWrite, type StoredLog } from '../log.ts'
import type { Database } from './database.ts'

const KEY = 'SELECT key FROM triarch_tasks WHERE id = ?'
const HEAD = 'SELECT seq, bytes, shed, run, mark FROM triarch_logs WHERE task = ?'
const KEEP = 'INSERT OR REPLACE INTO triarch_logs (task, seq, bytes, shed, run, mark) VALUES (?, ?, ?, ?, ?, ?)'
const LINE = `
INSERT INTO triarch_log_lines (task, seq, bytes, source, n, at, level, step, operation, attempt, node, line)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
/** Read oldest first: finds the first line that stays. */
const STAYS = 'SELECT seq FROM triarch_log_lines WHERE task = ? AND seq > ? AND bytes > ? ORDER BY seq LIMIT 1'
const SHED = 'DELETE FROM triarch_log_lines WHERE task = ? AND seq < ?'
const LINES = `
SELECT seq, at, level, step, operation, attempt, node, line AS text FROM triarch_log_lines
WHERE task = ?1 AND seq > ?2 AND seq <= ?3 AND level >= ?4 AND (?5 IS NULL OR step = ?5) AND (?6 IS NULL OR attempt = ?6)
ORDER BY seq LIMIT ?7 + 0`

interface Head {
  seq: number
  bytes: number
  shed: number
  run: number
  mark: number
}

export function writeLogs(database: Database, _now: number, writes: readonly LogWrite[]): void {
  database.transaction(() => {
    for (const write of writes) {
      const task = database.get<{ key: number }>(KEY, write.task)
      if (task) append(database, task.key, write)
    }
  })
}

function append(database: Database, task: number, { source, run, step, operation, attempt, node, entries }: LogWrite) {
  const head = { ...(database.get<Head>(HEAD, task) ?? { seq: 0, bytes: 0, shed: 0, run: 0, mark: 0 }) }
  const { seq } = head
  for (const { n, at, level, text } of entries) {
    // Replayed code logs its lines again.
    if (source === null && (run < head.run || (run === head.run && n <= head.mark))) continue
    const bytes = head.bytes + LINE_COST + text.length
    const about = [step, operation, attempt, node] as const
    if (database.run(LINE, task, head.seq + 1, bytes, source, n, at, level, ...about, text) === 0) continue
    head.seq++
    head.bytes = bytes
    if (source === null) [head.run, head.mark] = [run, n]
  }
  if (head.seq === seq) return
  const stays = database.get<{ seq: number }>(STAYS, task, head.seq - LOG_KEPT.lines, head.bytes - LOG_KEPT.bytes)
  if (stays) head.shed += database.run(SHED, task, stays.seq)
  database.run(KEEP, task, head.seq, head.bytes, head.shed, head.run, head.mark)
}

export function logs(database: Database, _now: number, query: LogQuery): StoredLog {
  const { task, after, limit, level, step, attempt } = query
  const key = database.get<{ key: number }>(KEY, task)?.key
  const head = key === undefined ? undefined : database.get<Head>(HEAD, key)
  if (key === undefined || !head) return { lines: [], last: 0, shed: 0, said: { run: 0, n: 0 } }
  const lines = database.all<LogRow>(LINES, key, after, head.seq, level, step, attempt, limit)
  const { seq: last, shed, run, mark: n } = head
  return { lines: lines.map((line) => ({ ...line })), last, shed, said: { run, n } }
}
