// Each rule that is the harness's own sees what it is there for. Those it shares with the crash test are doctored there.
import { describe, expect, it } from 'vitest'
import type { LedgerRows } from '../../examples/orders/services/ledger.ts'
import type { TaskEvent } from '../../packages/triarch/src/index.ts'
import { rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import { summarise } from '../../packages/triarch/src/kernel/summary.ts'
import { snapshotOf } from '../../packages/triarch/src/scheduler/transition.ts'
import type { Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Entry } from '../../packages/triarch/test/crash/ledger.ts'
import { rules as crashRules } from '../../packages/triarch/test/crash/rules.ts'
import { kinds } from '../plan.ts'
import { type Remains, rules, violations } from '../rules.ts'
import { TAKEOVER_LIMIT } from '../settings.ts'
import { entriesOf } from '../witness.ts'

const order = 'order-1'
const services = ['payment', 'stock', 'shipping', 'mail']
const kindOf: Record<string, string> = { payment: 'charge', stock: 'reserve', shipping: 'ship', mail: 'send' }

/** One order, fulfilled: what the services saw of it. */
function ledgers(): LedgerRows[] {
  return services.map((service, index) => {
    const kind = kindOf[service] ?? ''
    const base = { kind, key: `${order}:${index + 1}`, orderId: order, at: 1_000 + index * 100 }
    return {
      service,
      receipts: [{ ...base, attempt: 1, fault: null, status: 200, violation: null }],
      effects: [{ ...base, id: `${kind}_1`, undoes: null, input: {}, output: {} }],
    }
  })
}

/** What the agents wrote down when they asked. */
function calls(): Entry[] {
  return services.map((service, index) => ({
    kind: 'call',
    operation: 'run',
    key: `${order}:${index + 1}`,
    action: `${service}.do`,
    task: order,
    step: index + 1,
    attempt: 1,
    at: 990 + index * 100,
    pid: 1,
    zombie: false,
    note: '',
  }))
}

/** And what the store has of it. */
function story(): Story {
  const policy = { retry: { attempts: 1, initial: 1, factor: 1, max: 1, jitter: false } }
  const steps = services.map((service, index): TaskEvent[] => {
    const id = index + 1
    const trace = { attempt: 1, startedAt: 990 + index * 100, endedAt: 1_010 + index * 100, node: 'a' }
    return [
      { type: 'stepRequested', id, action: `${service}.do`, name: service, input: {}, policy },
      { type: 'stepCompleted', id, output: null, ...trace },
    ]
  })
  const times = [900, ...services.flatMap((_, index) => [950 + index * 100, 1_020 + index * 100])]
  const events: TaskEvent[][] = [
    [{ type: 'submitted', workflow: 'fulfil-order', version: '1', input: {} }],
    [{ type: 'started' }, ...(steps[0]?.slice(0, 1) ?? [])],
    ...steps.flatMap(([, done], index) => [[done, steps[index + 1]?.[0]].filter((event) => event !== undefined)]),
    [
      { type: 'returned', output: null },
      { type: 'stopped', result: 'success', output: null },
    ],
  ]
  const records = events.map((list, index) => ({
    seq: index + 1,
    at: index < 2 ? (times[index] ?? 0) : 1_020 + (index - 2) * 100 - (index === events.length - 1 ? 99 : 0),
    events: list,
  }))
  const dated = records.flatMap(({ at, events: list }) => list.map((event) => ({ at, event })))
  const row = snapshotOf(summarise(rebuild(order, dated).state))
  const rest = { key: 1, id: order, workflow: 'fulfil-order', locked_by: null, ready: 0, parent: null }
  return { row: { ...rest, ...row } as Story['row'], records }
}

function good(): Remains {
  const seen = ledgers()
  return {
    store: {
      accepted: [],
      emitted: {},
      doubtful: {},
      tasks: [story()],
      inbox: [],
      work: [],
      nodes: [],
      ledger: [...calls(), ...entriesOf(seen, [])],
    },
    ledgers: seen,
    orders: { kept: [order], confirmed: [order] },
    fired: Object.fromEntries(kinds.map((kind) => [kind, 1])) as Remains['fired'],
    takeovers: [{ tasks: 5, tasksAfter: 1_600, leaderAfter: 1_500, lag: 0 }],
    deaths: [],
    astonished: [],
    log: `57P01 2026-11-21 [1] triarch FATAL:  terminating connection due to administrator command
25000 2026-11-21 [1] triarch ERROR:  call 112 of a slot that is at 115 already\n`,
  }
}

const failure = { kind: 'error', operation: '', action: '', task: '', step: 0, attempt: 0, at: 0, pid: 0 } as const
const failed = (key: string): Entry => ({ ...failure, key, zombie: false, note: 'something' })

const crimes: [rule: string, crime: string, commit: (remains: Remains) => unknown][] = [
  [
    'orders',
    'an order is charged twice',
    (r) => r.ledgers[0]?.effects.push({ ...effect(r), id: 'charge_2', key: 'k' }),
  ],
  ['orders', 'an order is lost', (r) => r.store.tasks.pop()],
  ['orders', 'a fulfilled order lacks a part', (r) => r.ledgers[1]?.effects.pop()],
  ['together', 'a confirmed order is not in the table', (r) => r.orders.kept.pop()],
  ['together', 'an order has no task', (r) => r.orders.kept.push('order-2')],
  ['together', 'a task has no order', (r) => Object.assign(r.orders, { kept: [] })],
  ['unfired', 'a kind of fault never happened', (r) => Object.assign(r.fired, { 'swallow order': 0 })],
  ['takeover', 'tasks stood still for too long', (r) => takeover(r, { tasksAfter: TAKEOVER_LIMIT + 1 })],
  ['takeover', 'a busy machine does not explain it', (r) => takeover(r, { lag: 5, leaderAfter: TAKEOVER_LIMIT + 6 })],
  ['takeover', 'nobody took the lead', (r) => takeover(r, { leaderAfter: null })],
  ['takeover', 'nothing was measured', (r) => takeover(r, { tasks: 0 })],
  ['errors', 'the engine contradicts itself', (r) => r.store.ledger.push(failed('INVARIANT'))],
  ['errors', 'the store refused a statement', (r) => r.store.ledger.push(failed('STORE_FAILED'))],
  ['database', 'a statement is wrong', (r) => say(r, '23505 2026-11-21 [1] triarch ERROR:  duplicate key value')],
  ['database', 'the database is damaged', (r) => say(r, 'XX001 2026-11-21 [1] triarch ERROR:  invalid page')],
  ['database', 'the database panics', (r) => say(r, '58030 2026-11-21 [1]  PANIC:  could not write')],
  ['deaths', 'a process ends by itself', (r) => r.deaths.push('agent 1: ended by itself (1)')],
  ['astonished', 'a task pauses for no reason', (r) => r.astonished.push('order-1: {"reason":"mismatch"}')],
  // Shared rules, fed with what agents and services of the orders wrote down.
  ['asked', 'a request nobody asked for', (r) => call(r, { attempt: 7 })],
  ['asked', 'a request before its time', (r) => call(r, { at: 1 })],
  ['silence', 'a request after the end', (r) => call(r, { at: 99_999 })],
  ['strangers', 'a request for no task', (r) => call(r, { task: 'order-9' })],
  ['effects', 'a step is completed that its service knows nothing of', (r) => drop(r, 'effect')],
]

function effect({ ledgers: [first] }: Remains) {
  const [own] = first?.effects ?? []
  if (!own) throw new Error('the good run has no effect')
  return own
}

function takeover({ takeovers: [first] }: Remains, wrong: object): void {
  Object.assign(first as object, wrong)
}

function say(remains: Remains, line: string): void {
  remains.log += `${line}\n`
}

function call({ store }: Remains, wrong: Partial<Entry>): void {
  Object.assign(store.ledger.find(({ kind }) => kind === 'call') as object, wrong)
}

function drop({ store }: Remains, kind: Entry['kind']): void {
  store.ledger = store.ledger.filter((entry) => entry.kind !== kind)
}

describe('the rules of the chaos run', () => {
  it('find nothing in a good run', () => expect(violations(good())).toEqual([]))

  it.each(crimes)('%s: %s', (rule, _, commit) => {
    const remains = good()
    commit(remains)
    expect(rules[rule]?.(remains)).not.toEqual([])
  })

  it('can each fail', () => {
    const shared = new Set(Object.keys(crashRules).filter((name) => name !== 'errors'))
    const own = Object.keys(rules).filter((name) => !shared.has(name))
    expect(own.filter((rule) => !crimes.some(([name]) => name === rule))).toEqual([])
  })

  it('pardons what a frozen agent does when it wakes, and nobody else', () => {
    const [first] = entriesOf(ledgers(), [{ from: 900, until: 1_000 }])
    const last = entriesOf(ledgers(), [{ from: 100, until: 200 }]).at(-1)
    expect([first?.zombie, last?.zombie]).toEqual([true, false])
  })
})
