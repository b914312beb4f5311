// Each rule that is the harness's own sees what it is there for. Those it shares with the crash test are doctored there.
import { describe, expect, it } from 'vitest'
import type { LedgerRows } from '../../../examples/orders/services/ledger.ts'
import type { TaskEvent } from '../../../packages/triarch/src/kernel/event.ts'
import { rebuild } from '../../../packages/triarch/src/kernel/rebuild.ts'
import { summarise } from '../../../packages/triarch/src/kernel/summary.ts'
import { snapshotOf } from '../../../packages/triarch/src/scheduler/transition.ts'
import type { Story } from '../../../packages/triarch/test/crash/evidence.ts'
import type { Entry } from '../../../packages/triarch/test/crash/ledger.ts'
import { rules as crashRules } from '../../../packages/triarch/test/crash/rules.ts'
import { kinds } from '../plan.ts'
import { type Remains, rules, touchedBy, violations } from '../rules.ts'
import { BYSTANDERS, LEADER_LIMIT, STOP_LIMIT, TAKEOVER_LIMIT } from '../settings.ts'
import { entriesOf, storeTime, trueTime } from '../witness.ts'

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

/** A task of one local step, through with it after so long (ms). */
function small(workflow: string, id: string, ms: number, output: unknown): Story {
  const trace = { attempt: 1, startedAt: 1_000, endedAt: 1_000 + ms, node: 'a' }
  const policy = { retry: { attempts: 1, initial: 1, factor: 1, max: 1, jitter: false } }
  const records: Story['records'] = [
    { seq: 1, at: 1_000, events: [{ type: 'submitted', workflow, version: '1', input: 1 }] },
    {
      seq: 2,
      at: 1_000,
      events: [{ type: 'started' }, { type: 'stepRequested', id: 1, action: null, name: 'do', input: null, policy }],
    },
    {
      seq: 3,
      at: 1_000 + ms,
      events: [
        { type: 'stepCompleted', id: 1, output: output as never, ...trace },
        { type: 'returned', output: output as never },
        { type: 'stopped', result: 'success', output: output as never },
      ],
    },
  ]
  const dated = records.flatMap(({ at, events: list }) => list.map((event) => ({ at, event })))
  const row = snapshotOf(summarise(rebuild(id, dated).state))
  return { row: { key: 2, id, workflow, locked_by: null, ready: 0, parent: null, ...row } as Story['row'], records }
}

function passers(): Story[] {
  return Array.from({ length: BYSTANDERS.fewest }, (_, n) => small('bystander', `bystander-${n}`, 50, 2))
}

function echoes(): Story[] {
  return [small('echo', 'echo-1', 50, 'a\0b')]
}

function good(): Remains {
  const seen = ledgers()
  return {
    store: {
      accepted: [],
      emitted: {},
      doubtful: {},
      tasks: [story(), ...passers(), ...echoes()],
      inbox: [],
      work: [],
      nodes: [],
      ledger: [...calls(), ...entriesOf(seen, [])],
    },
    ledgers: seen,
    orders: { kept: [order], confirmed: [order] },
    fired: Object.fromEntries(kinds.map((kind) => [kind, 1])) as Remains['fired'],
    steps: [],
    tails: [],
    said: 0,
    oddities: [{ id: 'echo-1', text: 'a\0b', refused: null }],
    ...{ murders: [], remote: 1, direct: 1 },
    takeovers: [{ tasks: 5, tasksAfter: 1_600, leaderAfter: 1_500, lag: 0 }],
    slowness: 1,
    deaths: [],
    stops: [1_000],
    astonished: [],
    log: `57P01 2026-11-21 [1] triarch FATAL:  terminating connection due to administrator command
25000 2026-11-21 [1] triarch ERROR:  call 112 of a slot that is at 115 already\n`,
  }
}

const lost = { touched: [order], vanished: [] }
const failure = { kind: 'error', operation: '', action: '', task: '', step: 0, attempt: 0, at: 0, pid: 0 } as const
const failed = (key: string): Entry => ({ ...failure, key, zombie: false, note: 'something' })

const twice = 'duplicate key value violates unique constraint "work_pkey"'

const crimes: [rule: string, crime: string, commit: (remains: Remains) => unknown][] = [
  [
    'orders',
    'an order is charged twice',
    (r) => r.ledgers[0]?.effects.push({ ...effect(r), id: 'charge_2', key: 'k' }),
  ],
  ['orders', 'an order is lost', (r) => r.store.tasks.shift()],
  ['orders', 'a fulfilled order lacks a part', (r) => r.ledgers[1]?.effects.pop()],
  ['together', 'a confirmed order is not in the table', (r) => r.orders.kept.pop()],
  ['together', 'an order has no task', (r) => r.orders.kept.push('order-2')],
  ['together', 'a task has no order', (r) => Object.assign(r.orders, { kept: [] })],
  ['unfired', 'a kind of fault never happened', (r) => Object.assign(r.fired, { 'swallow order': 0 })],
  ['takeover', 'tasks stood still for too long', (r) => takeover(r, { tasksAfter: TAKEOVER_LIMIT + 1 })],
  ['takeover', 'a busy machine does not explain it', (r) => takeover(r, { lag: 5, leaderAfter: LEADER_LIMIT + 6 })],
  ['takeover', 'nobody took the lead', (r) => takeover(r, { leaderAfter: null })],
  ['takeover', 'nothing was measured', (r) => takeover(r, { tasks: 0 })],
  ['errors', 'the engine contradicts itself', (r) => r.store.ledger.push(failed('INVARIANT'))],
  ['errors', 'the store refused a statement', (r) => r.store.ledger.push(failed('STORE_FAILED'))],
  ['database', 'a statement is wrong', (r) => say(r, '23505 2026-11-21 [1] triarch ERROR:  duplicate key value')],
  ['database', 'an attempt is asked for twice', (r) => say(r, `23505 2026-11-21 [1] triarch ERROR:  ${twice}`)],
  ['database', 'the database is damaged', (r) => say(r, 'XX001 2026-11-21 [1] triarch ERROR:  invalid page')],
  ['database', 'the database panics', (r) => say(r, '58030 2026-11-21 [1]  PANIC:  could not write')],
  ['deaths', 'a process ends by itself', (r) => die(r, { signal: null })],
  ['deaths', 'a process is too slow to stop, and poison was in it', (r) => die(r, { signal: null, poison: true })],
  ['deaths', 'somebody killed a process, and poison killed another', (r) => die(r, { signal: 'SIGKILL' })],
  ['stops', 'a process took too long to stop', (r) => r.stops.push(STOP_LIMIT + 1)],
  ['poisoned', 'a task goes on killing', (r) => poison(r, 9)],
  ['bystanders', 'one stood still', (r) => slow(r, 1, BYSTANDERS.longest + 1)],
  ['bystanders', 'half of them were held up', (r) => slow(r, 11, BYSTANDERS.usual + 1)],
  ['bystanders', 'one failed', (r) => Object.assign(storyOf(r, 'bystander-3').row, { result: 'error' })],
  ['bystanders', 'there were none', (r) => keep(r, (id) => !id.startsWith('bystander'))],
  ['odd', 'a text came back as another', (r) => Object.assign(storyOf(r, 'echo-1').row, { output: '"ab"' })],
  ['odd', 'its task failed', (r) => Object.assign(storyOf(r, 'echo-1').row, { result: 'error' })],
  ['odd', 'its task is lost', (r) => keep(r, (id) => id !== 'echo-1')],
  ['odd', 'the store choked on it', (r) => Object.assign(r.oddities[0] as object, { refused: 'STORE_FAILED' })],
  ['remote', 'remote agents began nothing', (r) => Object.assign(r, { remote: 0 })],
  ['direct', 'given to another node directly', (r) => Object.assign(r, { direct: 0 })],
  ['odd', 'nothing odd was sent', (r) => r.oddities.pop()],
  ['tails', 'a failover lost nothing', (r) => r.tails.push({ touched: [], vanished: [] })],
  ['tails', 'what was lost is not said', (r) => Object.assign(r, { fired: { failover: 1 }, tails: [lost] })],
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

/** A process ended; `poison`: which says that it killed it. */
function die(remains: Remains, { signal, poison = false }: { signal: 'SIGKILL' | null; poison?: boolean }): void {
  remains.murders.push({ task: 'poison-1', pid: poison ? 1 : 2 })
  remains.deaths.push({ pid: 1, signal, text: 'agent 1: ended' })
}

/** A task says that it killed so many processes, and they did end. */
function poison(remains: Remains, murders: number): void {
  for (let pid = 0; pid < murders; pid++) {
    remains.murders.push({ task: 'poison-1', pid })
    remains.deaths.push({ pid, signal: 'SIGKILL', text: 'agent 1: ended' })
  }
}

function slow(remains: Remains, count: number, ms: number): void {
  for (let n = 0; n < count; n++)
    Object.assign(storyOf(remains, `bystander-${n}`).records[2] as object, { at: 1_000 + ms })
}

function storyOf({ store }: Remains, id: string): Story {
  const found = store.tasks.find(({ row }) => row.id === id)
  if (!found) throw new Error(`the good run has no ${id}`)
  return found
}

function keep({ store }: Remains, which: (id: string) => boolean): void {
  store.tasks = store.tasks.filter(({ row }) => which(row.id))
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

  describe('after a failover that lost the tail', () => {
    const after = (touched: string[], vanished: string[], commit: (remains: Remains) => unknown) => {
      const remains = { ...good(), tails: [{ touched, vanished }], said: 1 }
      commit(remains)
      return violations(remains)
    }

    it('do not hold against a task what services and clients know of what it lost', () => {
      expect(after([order], [], (r) => r.ledgers[0]?.effects.push({ ...effect(r), id: 'charge_2' }))).toEqual([])
      expect(after([order], [], (r) => call(r, { attempt: 7 }))).toEqual([])
      const gone = (r: Remains) => {
        keep(r, (id) => id !== order)
        r.orders.kept.pop()
        r.store.accepted.push(order)
      }
      expect(after([order], [order], gone)).toEqual([])
    })

    it('hold that against all others, and their histories against all of them', () => {
      expect(after(['echo-1'], [], (r) => call(r, { attempt: 7 })).join()).toContain('asked')
      expect(after([order], [], (r) => r.store.accepted.push('lost')).join()).toContain(
        'lost: was accepted and is lost',
      )
      expect(after([order], [], (r) => storyOf(r, order).records.splice(2, 1)).join()).toContain('gapless')
      expect(after([order], [], (r) => Object.assign(storyOf(r, order).row, { locked_by: 'a' })).join()).toContain(
        'rest',
      )
    })

    it('count relatives of a task that lost something as such', () => {
      const remains = good()
      const [root, child, other] = ['a', 'a.1', 'b'].map((id) => {
        const one = structuredClone(storyOf(remains, 'bystander-1'))
        return { ...one, row: { ...one.row, id, parent: id === 'a.1' ? 'a' : null } }
      }) as [Story, Story, Story]
      const tasks = [root, child, other]
      for (const lost of ['a', 'a.1']) {
        const tails = [{ touched: [lost], vanished: [] }]
        expect(touchedBy({ tails, store: { ...remains.store, tasks } })).toEqual(new Set(['a', 'a.1']))
      }
    })
  })

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

  it('take nobody for slow who was there when the clock of the store was set, or for early', () => {
    const steps = [
      { from: 1_010, until: 1_012, by: 5_000 },
      { from: 1_020, until: 1_022, by: 7_000 },
    ]
    expect([1_000, 1_010, 1_015, 1_030].map((at) => storeTime(at, steps))).toEqual([1_000, 6_010, 6_015, 13_030])
    expect([1_000, 1_011, 6_015, 13_030].map((at) => trueTime(at, steps))).toEqual([1_000, 1_011, 1_015, 1_030])
    const remains = good()
    slow(remains, 1, 12_050)
    expect(rules.bystanders?.(remains)).not.toEqual([])
    expect(rules.bystanders?.({ ...remains, steps })).toEqual([])
  })

  it('leave to an operator what came of the step that he gave up for undone', () => {
    const remains = good()
    const [first] = remains.ledgers
    Object.assign(first as object, { effects: [] })
    const guess = (by: 'rescue' | 'operator') =>
      storyOf(remains, order).records.push({ seq: 99, at: 1_500, events: [{ type: 'stepSkipped', id: 1, by }] })
    guess('rescue')
    expect(rules.orders?.(remains)).not.toEqual([])
    guess('operator')
    expect(rules.orders?.(remains)).toEqual([])
  })

  it('know who was killed by poison', () => {
    const remains = good()
    poison(remains, 2)
    expect(violations(remains)).toEqual([])
  })

  it('allow for a machine that is busy with other things', () => {
    const remains = good()
    slow(remains, 1, BYSTANDERS.longest * 2)
    expect(rules.bystanders?.(remains)).not.toEqual([])
    expect(rules.bystanders?.({ ...remains, slowness: 2 })).toEqual([])
  })

  it('pardons what two lives of a task ask for at once, after a failover alone', () => {
    const remains = good()
    say(remains, `23505 2026-11-21 [1] triarch ERROR:  ${twice}`)
    expect(rules.database?.({ ...remains, tails: [lost] })).toEqual([])
    expect(rules.database?.(remains)).not.toEqual([])
  })

  it('pardons what a frozen agent does when it wakes, and nobody else', () => {
    const [first] = entriesOf(ledgers(), [{ from: 900, until: 1_000 }])
    const last = entriesOf(ledgers(), [{ from: 100, until: 200 }]).at(-1)
    expect([first?.zombie, last?.zombie]).toEqual([true, false])
  })
})
