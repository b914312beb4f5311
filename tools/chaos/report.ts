// What came of it, for people.
import { styleText } from 'node:util'
import type { Kind } from './plan.ts'
import type { Takeover } from './takeover.ts'

/** Durations (ms): half of them, 99 of 100, and the longest. */
export interface Spread {
  count: number
  half: number
  most: number
  longest: number
}

export interface Report {
  ok: boolean
  seed: number
  /** Whether nodes heard of each other's writes by LISTEN/NOTIFY. */
  hints: boolean
  /** How long the faults went on, and the whole run (s). */
  storm: number
  seconds: number
  orders: number
  /** All tasks by how they ended. */
  results: Record<string, number>
  records: number
  faults: Partial<Record<Kind, number>>
  swallowed: Record<string, number>
  /** What failovers lost: how many, of how many tasks, how many of these wholly, and how often nodes said so. */
  lost: { failovers: number; tasks: number; wholly: number; said: number }
  /** How many attempts remote agents began. */
  remote: number
  /** How many attempts nodes with agents began that schedulers gave them directly; null: none was to be. */
  direct: number | null
  takeovers: Takeover[]
  /** How long bystanders took. */
  bystanders: Spread
  /** How long processes took that stopped in order. */
  stops: Spread
  /** How many times longer than on an idle machine everything took, and may take. */
  slowness: number
  takeoverLimit: number
  /** From the end of the faults until everything was at rest (s); null: it never was. */
  converged: number | null
  /** Errors in the database's log by SQLSTATE, and those the nodes' engines told of by code. */
  databaseErrors: Record<string, number>
  engineErrors: Record<string, number>
  violations: string[]
  /** The state of everything that hangs; empty when nothing does. */
  stuck: string
  data: string | null
}

const MOST_SHOWN = 40

export function summary(report: Report): string {
  const {
    bystanders,
    stops,
    seed,
    storm,
    seconds,
    orders,
    results,
    records,
    faults,
    swallowed,
    lost,
    converged,
    data,
  } = report
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0)
  const rows = [
    ['tasks', `${list(results)}; ${orders} orders among them, ${records} records of history`],
    ['faults', `${total} in ${storm} s: ${list(faults)}`],
    ['swallowed', list(swallowed)],
    ...(lost.failovers > 0
      ? [
          [
            'lost',
            `${lost.failovers} times what ${lost.tasks} tasks had, ${lost.wholly} of them wholly; said ${lost.said} times`,
          ],
        ]
      : []),
    ['remote', `${report.remote} attempts`],
    ...(report.direct === null ? [] : [['direct', `${report.direct} attempts`]]),
    ['takeover', report.takeovers.map(takeoverLine).join('; ') || 'not measured'],
    ['bystanders', spoken(bystanders)],
    ['stops', spoken(stops)],
    ...(report.slowness > 1.5 ? [['machine', `so busy that all took ${report.slowness} times longer`]] : []),
    ['at rest', converged === null ? 'never' : `${converged} s after the last fault`],
    ['database', list(report.databaseErrors)],
    ['engine', list(report.engineErrors)],
    ['time', `${seconds} s, seed ${seed}${report.hints ? '' : ', without LISTEN/NOTIFY'}`],
    ...(data ? [['data', data]] : []),
    ['violations', `${report.violations.length || 'none'}`],
  ]
  const problems = report.violations.slice(0, MOST_SHOWN).map((line) => styleText('red', line))
  return [
    ...rows.map(([name, value]) => `${styleText('bold', (name ?? '').padEnd(11))}${value}`),
    ...problems,
    ...(report.stuck ? [styleText('red', 'This hangs:'), report.stuck] : []),
    report.ok
      ? styleText('green', 'Every guarantee held.')
      : styleText('red', 'A guarantee broke, or the run proves too little.'),
  ].join('\n')
}

function takeoverLine({ tasks, tasksAfter, leaderAfter, lag }: Takeover): string {
  const held = lag > 100 ? ` (held up for ${lag} ms)` : ''
  return `${tasks} tasks of a dead scheduler after ${tasksAfter} ms, the lead of a dead supervisor after ${leaderAfter} ms${held}`
}

function list(counts: Record<string, number>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none'
  )
}

function spoken({ count, half, most, longest }: Spread): string {
  return `${count}: ${half} ms half of them, ${most} ms 99 %, ${longest} ms the slowest`
}
