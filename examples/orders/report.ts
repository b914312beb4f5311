// What came of it, for people.
import { styleText } from 'node:util'
import type { Recovery } from './illness.ts'
import type { Store } from './options.ts'
import { type Moment, render } from './timeline.ts'
import type { Verdict } from './verdict.ts'

export interface Report {
  ok: boolean
  store: Store
  seed: number
  seconds: number
  kills: { node: number; web: number; service: number; agent: number; total: number }
  /** Customers who heard what became of their order, by how they did. */
  told: Record<string, number>
  /** Those who were told something else than what came of it. */
  misled: string[]
  /** The payment service was ill for a while. */
  recovery: Recovery
  faults: number
  counts: Verdict['counts']
  violations: Verdict['violations']
  /** Of an order whose process was killed in the middle; null: none was in the hands of one. */
  timeline: { order: string; moments: Moment[] } | null
  /** Nodes that did not stop when they were asked to. */
  unruly: string[]
  /** Tasks that stopped moving, each with the end of its history. */
  stuck: string[]
  /** Where the databases were left; null: nowhere. */
  data: string | null
}

export function summary(report: Report): string {
  const {
    ok,
    store,
    seed,
    seconds,
    kills,
    told,
    misled,
    recovery,
    faults,
    counts,
    violations,
    unruly,
    stuck,
    data,
    timeline,
  } = report
  const kinds = Object.entries(counts.faults).map(([fault, count]) => `${count} ${fault}`)
  const rows = [
    ['orders', `${counts.orders}: ${counts.fulfilled} fulfilled, ${counts.undone} undone`],
    [
      'requests',
      `${counts.requests}, with ${counts.effects} effects, ${counts.undos} undone, ${counts.refusals} refusals`,
    ],
    ['faults', `${faults}: ${kinds.join(', ')}`],
    [
      'kills',
      `${kills.total}: ${kills.node} of nodes, ${kills.web} of the web process, ${kills.service} of services${kills.agent ? `, ${kills.agent} of the agent` : ''}`,
    ],
    ['illness', illnessOf(recovery)],
    ['cache', cacheOf(recovery)],
    [
      'told',
      Object.entries(told)
        .map(([way, count]) => `${count} by ${way}`)
        .join(', ') || 'nobody',
    ],
    ['time', `${seconds} s, seed ${seed}, on ${store}`],
    ['violations', `${violations.length || 'none'}`],
  ]
  const lines = rows.map(([name, value]) => `${styleText('bold', (name ?? '').padEnd(11))}${value}`)
  const problems = [
    ...violations.slice(0, 50).map(({ rule, orderId, detail }) => `${rule}: ${orderId ?? 'no order'}: ${detail}`),
    ...misled,
    ...unruly.map((name) => `${name} did not stop in order`),
    ...stuck.slice(0, 10).map((task) => `stuck: ${task}`),
  ].map((line) => styleText('red', line))
  const verdict = ok
    ? styleText('green', 'Every order was fulfilled once, or undone. Nothing twice, nothing lost.')
    : styleText('red', 'A guarantee broke.')
  const life = timeline
    ? [
        styleText('dim', 'One order whose process was killed in the middle:'),
        render(timeline.order, timeline.moments),
        '',
      ]
    : []
  return [...life, ...lines, ...problems, verdict, ...(data ? ['', inside(report, data)] : [])].join('\n')
}

function illnessOf({ lasted, met, opened, waves }: Recovery): string {
  const gone = waves.length === 0 ? '' : `, and waves of ${waves.slice(-8).join(', ')} let go what waited`
  return `of payment for ${(lasted / 1_000).toFixed(1)} s: ${met} calls met it; its breaker opened ${opened} times${gone}`
}

function cacheOf({ fees: { asked, cached, meanwhile } }: Recovery): string {
  return `${cached} of ${asked} fees were known, ${meanwhile} of them while the breaker kept calls back`
}

/** How to look into what a run has left. */
function inside({ store, timeline }: Report, data: string): string {
  const order = timeline?.order ?? 'order-1'
  const rows = [
    [`npm run look -- ${data}`, 'how all orders ended'],
    [`npm run look -- ${data} ${order}`, 'the life of one'],
  ]
  const width = Math.max(...rows.map(([command]) => command?.length ?? 0))
  const where = store === 'sqlite' ? `${data}/orders.db` : `${data}/postgres, the data of a PostgreSQL`
  return [
    `The tasks are in ${where}.`,
    ...rows.map(([command, what]) => `  ${command?.padEnd(width)}  # ${what}`),
  ].join('\n')
}
