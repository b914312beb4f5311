import { type FiguresRow, firstHour, HOUR } from '../api/figures.ts'

/** What became of all that has one name, and how long what succeeded took (ms). */
export interface StatisticsLine {
  name: string
  begun: number
  done: number
  failed: number
  p50: number | null
  p95: number | null
  p99: number | null
}

const DONE = new Set(['success', 'warning', 'cached'])
/** What was undone did not do what it was for. */
const FAILED = new Set(['error', 'compensated'])

/** A line for each value of a column; those that failed most first. */
export function linesOf(rows: readonly FiguresRow[], column: 'workflow' | 'action' | 'tag'): StatisticsLine[] {
  const lines = new Map<string, StatisticsLine>()
  for (const row of rows) {
    const name = row[column] ?? ''
    const line = lines.get(name) ?? { name, begun: 0, done: 0, failed: 0, p50: null, p95: null, p99: null }
    lines.set(name, line)
    add(line, row)
  }
  return [...lines.values()].sort((a, b) => b.failed - a.failed || b.begun - a.begun || a.name.localeCompare(b.name))
}

/** A line for each of the last hours, also for those of which nothing was counted. */
export function hoursOf(rows: readonly FiguresRow[], hours: number): StatisticsLine[] {
  const first = firstHour(hours)
  const all = Array.from({ length: hours }, (_, n): StatisticsLine => {
    const name = new Date(first + n * HOUR).toISOString()
    return { name, begun: 0, done: 0, failed: 0, p50: null, p95: null, p99: null }
  })
  for (const row of rows) {
    const line = all[Math.round((Date.parse(row.hour ?? '') - first) / HOUR)]
    if (line) add(line, row)
  }
  return all
}

/** All of them together; their percentiles cannot be added. */
export function sumOf(lines: readonly StatisticsLine[]): Pick<StatisticsLine, 'begun' | 'done' | 'failed'> {
  const sum = (name: 'begun' | 'done' | 'failed') => lines.reduce((all, it) => all + it[name], 0)
  return { begun: sum('begun'), done: sum('done'), failed: sum('failed') }
}

/** The share of what ended that failed; null: nothing ended. */
export function failing({ done, failed }: Pick<StatisticsLine, 'done' | 'failed'>): number | null {
  return done + failed === 0 ? null : failed / (done + failed)
}

function add(line: StatisticsLine, { outcome = '', count, p50, p95, p99 }: FiguresRow): void {
  if (outcome === 'submitted') line.begun += count
  if (DONE.has(outcome)) line.done += count
  if (FAILED.has(outcome)) line.failed += count
  if (outcome === 'success') Object.assign(line, { p50, p95, p99 })
}
