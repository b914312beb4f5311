import { LINE_COST, LOG_KEPT, type LogQuery, type LogRow, type LogWrite, type StoredLog } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import type { Row } from './query.ts'

/** Returns at least one row for a task that has a log, so that the last number and the lines are of the same snapshot. */
export const LOGS: string = `
SELECT h.seq, h.shed, h.run, h.mark, l.* FROM triarch.logs h LEFT JOIN LATERAL (
  SELECT k.seq, k.at, k.level, k.step, k.operation, k.attempt, k.node, k.line FROM triarch.log_lines k
  WHERE k.task = h.task AND k.seq > $2 AND k.level >= $4 AND ($5::bigint IS NULL OR k.step = $5)
    AND ($6::bigint IS NULL OR k.attempt = $6)
  ORDER BY k.seq LIMIT $3) l ON true
WHERE h.task = (SELECT t.key FROM triarch.tasks t WHERE t.id = $1) ORDER BY l.seq`

export function logValues({ task, after, limit, level, step, attempt }: LogQuery): unknown[] {
  return [task, after, limit, level, step, attempt]
}

export function logOf(rows: readonly Row[]): StoredLog {
  const [last = 0, shed = 0, run = 0, n = 0] = (rows[0] ?? []) as number[]
  const lines = rows.flatMap(([, , , , seq, at, level, step, operation, attempt, node, text]): LogRow[] =>
    seq === null ? [] : [{ seq, at, level, step, operation, attempt, node, text } as LogRow],
  )
  return { lines, last, shed, said: { run, n } }
}

export function writeLogsArguments(writes: readonly LogWrite[]): unknown[] {
  const lines = writes.flatMap(({ entries }, index) => entries.map((entry) => ({ writer: index + 1, ...entry })))
  return [
    texts(writes, ({ task }) => task),
    texts(writes, ({ source }) => source),
    integers(writes, ({ run }) => run),
    integers(writes, ({ step }) => step),
    texts(writes, ({ operation }) => operation),
    integers(writes, ({ attempt }) => attempt),
    texts(writes, ({ node }) => node),
    integers(lines, ({ writer }) => writer),
    integers(lines, ({ n }) => n),
    integers(lines, ({ at }) => at),
    integers(lines, ({ level }) => level),
    texts(lines, ({ text }) => text),
    ...[LOG_KEPT.lines, LOG_KEPT.bytes, LINE_COST],
  ]
}
