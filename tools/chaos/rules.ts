// What a run is held to besides the rules of the crash test and the judge of the orders.
import { judge } from '../../examples/orders/judge.ts'
import type { LedgerRows } from '../../examples/orders/services/ledger.ts'
import { dependsOn } from '../../examples/orders/shop.ts'
import type { Death } from '../../examples/orders/unit.ts'
import type { TaskEvent } from '../../packages/triarch/src/kernel/event.ts'
import type { Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import { rules as crashRules } from '../../packages/triarch/test/crash/rules.ts'
import type { Oddity } from './neighbours.ts'
import type { Kind } from './plan.ts'
import { BYSTANDERS, LEADER_LIMIT, STOP_LIMIT, TAKEOVER_LIMIT } from './settings.ts'
import type { LostTail } from './standby.ts'
import type { Takeover } from './takeover.ts'
import { type Step, trueTime } from './witness.ts'
import type { Murder } from './workflows.ts'

/** All that is left when a run is over. */
export interface Remains {
  store: Evidence
  /** The services' ledgers. */
  ledgers: LedgerRows[]
  /** Orders the shop has in its own table, and orders confirmed to customers. */
  orders: { kept: string[]; confirmed: string[] }
  fired: Partial<Record<Kind, number>>
  /** When the store's clock was set forward. */
  steps: Step[]
  /** What failovers lost, and how often nodes said of a task that something was. */
  tails: LostTail[]
  said: number
  /** What nobody expects, and what became of it. */
  oddities: Oddity[]
  /** Processes that poison killed. */
  murders: Murder[]
  /** How many attempts remote agents began. */
  remote: number
  /** How many attempts nodes with agents began that schedulers gave them directly; null: none was to be. */
  direct: number | null
  takeovers: Takeover[]
  /** How many times longer than on an idle machine everything took. */
  slowness: number
  /** Processes that ended by themselves, or not in order when they were asked to. */
  deaths: Death[]
  /** How long processes took that stopped in order when they were asked to (ms). */
  stops: number[]
  /** Pauses that no fault explains, seen by the operator. */
  astonished: string[]
  /** What the database said of itself. */
  log: string
}

export type Rule = (remains: Remains) => string[]

/** Errors in the store that connections and processes cannot explain, only statements: SQLSTATE classes. */
const blunders = /^(?:0A|0B|20|21|22|23|25|26|2B|34|39|3B|3D|3F|42|44|54|P0|XX)/

/** Errors that a node meets while the database is away, or while it leaves. */
const harmless: readonly string[] = [
  'STORE_BUSY',
  'STORE_CLOSED',
  'STORE_UNAVAILABLE',
  'STORE_UNANSWERED',
  'NODE_STOPPED',
  'NODE_FENCED',
  // What remote agents meet while servers are away.
  'SERVER_UNREACHABLE',
]

const orders: Rule = ({ orders: { kept, confirmed }, ledgers, store }) => {
  const tasks = store.tasks
    .filter(({ row }) => row.workflow === 'fulfil-order')
    .map(({ row }) => ({ orderId: row.id, status: row.status, outcome: row.result }))
  const { violations } = judge({
    orders: [...new Set([...kept, ...confirmed])].map((id) => ({ id })),
    ledgers,
    tasks,
    dependsOn,
  })
  const answered = new Set(
    store.tasks.filter(({ records }) => records.some(({ events }) => events.some(isGuess))).map(({ row }) => row.id),
  )
  return violations
    .filter(({ rule, orderId }) => !answered.has(orderId ?? '') || (rule !== 'not-done' && rule !== 'not-undone'))
    .map(({ rule, orderId, detail }) => `${rule}: ${orderId ?? 'no order'}: ${detail}`)
}

/** An operator gave up a step that nobody knows the outcome of, and guessed that nothing was done: what comes of it is his. */
function isGuess(event: TaskEvent): boolean {
  return event.type === 'stepSkipped' && event.by === 'operator'
}

/** The order and its task commit together: who was told of the one has both. */
const together: Rule = ({ orders: { kept, confirmed }, store }) => {
  const tasks = new Set(store.tasks.filter(({ row }) => row.workflow === 'fulfil-order').map(({ row }) => row.id))
  const rows = new Set(kept)
  return [
    ...confirmed.filter((id) => !rows.has(id)).map((id) => `${id}: was confirmed, and the shop's own table lacks it`),
    ...kept.filter((id) => !tasks.has(id)).map((id) => `${id}: is in the shop's table and has no task`),
    ...[...tasks].filter((id) => !rows.has(id)).map((id) => `${id}: has a task and is not in the shop's table`),
  ]
}

const unfired: Rule = ({ fired }) =>
  Object.entries(fired)
    .filter(([, count]) => count === 0)
    .map(([kind]) => `${kind} never happened: the run proves nothing about it`)

/** How long simple tasks took that had nothing to do with any of it (ms), the shortest first. */
export function latencies({ store, steps }: Pick<Remains, 'store' | 'steps'>): { id: string; ms: number }[] {
  return store.tasks
    .filter(({ row }) => row.workflow === 'bystander' && row.parent === null)
    .map(({ row: { id }, records }) => {
      const [from = 0, until = 0] = [records[0]?.at, records.at(-1)?.at].map((at) => trueTime(at ?? 0, steps))
      return { id, ms: until - from }
    })
    .sort((a, b) => a.ms - b.ms)
}

/** Trouble stays where it is. */
const bystanders: Rule = (remains) => {
  const all = latencies(remains)
  const [most, longest] = [BYSTANDERS.usual, BYSTANDERS.longest].map((ms) => ms * remains.slowness) as [number, number]
  const usual = all[Math.floor(all.length / 2)]
  if (!usual || all.length < BYSTANDERS.fewest) return [`${all.length} bystanders prove nothing`]
  return [
    ...(usual.ms > most ? [`half of the bystanders took longer than ${usual.ms} ms`] : []),
    ...all.filter(({ ms }) => ms > longest).map(({ id, ms }) => `${id} took ${ms} ms`),
    ...remains.store.tasks
      .filter(({ row }) => row.workflow === 'bystander' && row.parent === null && row.result !== 'success')
      .map(({ row }) => `${row.id} ended with ${row.result}`),
  ]
}

/** What nobody expects is refused at its sender for what it is, or comes back as it was sent. */
const odd: Rule = ({ oddities, store }) => {
  const tasks = new Map(store.tasks.map(({ row }) => [row.id, row]))
  if (oddities.length === 0) return ['nothing odd was sent: the run proves nothing about it']
  return oddities.flatMap(({ id, text, refused }) => {
    const name = JSON.stringify(text)
    if (refused !== null) return /^(?:INVALID|UNKNOWN)_/.test(refused) ? [] : [`${name} was refused with ${refused}`]
    const row = tasks.get(id)
    if (row?.result !== 'success') return [`the task of ${name} is ${row?.result ?? 'lost'}`]
    return row.output === JSON.stringify(text) ? [] : [`${name} came back as ${row.output}`]
  })
}

/** A task that kills whoever runs it is quarantined before it has killed many. */
const poisoned: Rule = ({ murders, store }) =>
  [...Map.groupBy(murders, ({ task }) => task)].flatMap(([task, killed]) => {
    const records = store.tasks.find(({ row }) => row.id === task)?.records ?? []
    const lived = (records.at(-1)?.at ?? 0) - (records[0]?.at ?? 0)
    return killed.length > MOST_KILLED + lived / UNTRIED ? [`${task} killed ${killed.length} processes`] : []
  })

/**
 * Code that kills right after a step: the step is suspected after two and tried, the code kills once more when the step's answer is
 * recorded, twice before its task is suspected, and three times while that is tried alone.
 */
const MOST_KILLED = 8
/** Where no process lives for long enough to try a suspect by itself, it runs as any other after so long (ms), and may kill once more. */
const UNTRIED = 60_000

/** Processes end by themselves, or before they have stopped, only where poison says that it killed them. */
const deaths: Rule = ({ deaths, murders }) => {
  const killed = new Set(murders.map(({ pid }) => pid))
  return deaths
    .filter(({ pid, signal }) => signal !== 'SIGKILL' || pid === undefined || !killed.has(pid))
    .map(({ text }) => text)
}

/** A process ends in time when it is asked to, whatever the store does meanwhile. */
const stops: Rule = ({ stops, slowness }) =>
  stops.filter((ms) => ms > STOP_LIMIT * slowness).map((ms) => `a stop took ${Math.round(ms)} ms`)

/** Of every tail something was lost, and is told of by who knew it: unless those who did may have died first, or were cut off. */
const tails: Rule = ({ tails, said, fired }) => {
  const silenced = Object.entries(fired).some(([kind, count]) => count > 0 && silencing.test(kind))
  return [
    ...tails.filter(({ touched }) => touched.length === 0).map(() => 'a failover lost nothing: it proves nothing'),
    ...(said < tails.length && !silenced ? [`${tails.length} tails were lost, and that was said ${said} times`] : []),
  ]
}

const silencing = /scheduler|server|code|deploy|partition/

/** Whatever is done to servers and links, remote agents take their share of the work. */
const remote: Rule = ({ remote }) =>
  remote > 0 ? [] : ['remote agents began nothing: the run proves nothing about them']

/** The same of steps that nodes give each other without a queue. */
const direct: Rule = ({ direct }) =>
  direct === 0 ? ['nothing was given to another node directly: the run proves nothing about that'] : []

/** Those that failovers took something from, with all their relatives. */
export function touchedBy({ tails, store }: Pick<Remains, 'tails' | 'store'>): Set<string> {
  const root = new Map(store.tasks.map(({ row }) => [row.id, row.parent ?? row.id]))
  const rootOf = (id: string): string => {
    const above = root.get(id) ?? id
    return above === id ? id : rootOf(above)
  }
  const roots = new Set(tails.flatMap(({ touched }) => touched.map(rootOf)))
  const relatives = store.tasks.map(({ row }) => row.id).filter((id) => roots.has(rootOf(id)))
  return new Set([...tails.flatMap(({ touched }) => touched), ...relatives])
}

/**
 * What can be held against services' ledgers and clients' promises when some of what was acknowledged is gone: what they say of
 * the tasks that lost something is left out, for it tells of a course of events that the store knows nothing of. The histories of
 * these tasks are held to all else: they have no gap, fold to what their rows say, and end.
 */
export function apart(remains: Remains): Remains {
  const { tails, store, ledgers, orders, oddities, murders } = remains
  if (tails.length === 0) return remains
  const touched = touchedBy(remains)
  const vanished = new Set(tails.flatMap((tail) => tail.vanished))
  for (const { row } of store.tasks) vanished.delete(row.id) // sent again
  const untouched = <T>(list: readonly T[], of: (item: T) => string | null) =>
    list.filter((item) => !touched.has(of(item) ?? ''))
  return {
    ...remains,
    store: {
      ...store,
      tasks: untouched(store.tasks, ({ row }) => row.id),
      accepted: store.accepted.filter((id) => !vanished.has(id)),
      ledger: untouched(store.ledger, ({ task }) => task),
    },
    ledgers: ledgers.map((own) => ({
      ...own,
      receipts: untouched(own.receipts, ({ orderId }) => orderId),
      effects: untouched(own.effects, ({ orderId }) => orderId),
    })),
    orders: { kept: untouched(orders.kept, (id) => id), confirmed: untouched(orders.confirmed, (id) => id) },
    oddities: untouched(oddities, ({ id }) => id),
    murders: untouched(murders, ({ task }) => task),
  }
}

const takeover: Rule = ({ takeovers }) =>
  takeovers.flatMap(({ tasks, tasksAfter, leaderAfter, lag }) => {
    const late = (ms: number | null, limit: number) => ms === null || ms > limit + lag
    return [
      ...(tasks === 0 ? ['the scheduler that was killed owned nothing: nothing was measured'] : []),
      ...(late(tasksAfter, TAKEOVER_LIMIT)
        ? [`a dead scheduler's tasks had another owner after ${tasksAfter ?? 'too many'} ms`]
        : []),
      ...(late(leaderAfter, LEADER_LIMIT)
        ? [`a dead leader had a successor after ${leaderAfter ?? 'too many'} ms`]
        : []),
    ]
  })

const errors: Rule = ({ store }) =>
  store.ledger
    .filter(({ kind, key }) => kind === 'error' && !harmless.includes(key))
    .map(({ key, note }) => `${key}: ${note}`)

/** A call that a fault held up until its caller had asked again, and gone on: the store refuses it, as it must. */
const overtaken = /call \d+ of a slot that is at \d+ already/

/**
 * A store that went back gives a task to the node that had it, under the number of before: what two lives of it ask for in one commit is
 * refused, and written one by one.
 */
const twice = /duplicate key value violates unique constraint "work_pkey"/

const database: Rule = ({ log, tails }) =>
  complaintsOf(log)
    .filter(({ state, severity, line }) => {
      const explained = overtaken.test(line) || (tails.length > 0 && twice.test(line))
      return severity === 'PANIC' || (blunders.test(state) && !explained)
    })
    .map(({ line }) => line)

export interface Complaint {
  state: string
  severity: string
  line: string
}

/** The errors in the database's log. */
export function complaintsOf(log: string): Complaint[] {
  const lines = log.split('\n')
  return lines.flatMap((line, index) => {
    const [, state, severity] = /^([0-9A-Z]{5}) .*?\b(ERROR|FATAL|PANIC): /.exec(line) ?? []
    if (!state || !severity) return []
    // Which row it was about comes in a line of its own.
    const [, detail] = /\b(DETAIL: .*)/.exec(lines[index + 1] ?? '') ?? []
    return [{ state, severity, line: detail ? `${line} ${detail}` : line }]
  })
}

// The crash test's own rule on errors knows an embedded store's only.
const { errors: _, effects, ...shared } = crashRules

const neighbours: readonly string[] = ['bystander', 'echo', 'keyed', 'poison']

/** Those that ask for nothing but what the store has. */
const ofHistories: readonly string[] = [
  ...['gapless', 'fold', 'outcome', 'answers', 'dependencies', 'closed', 'timers', 'compensation', 'children', 'rest'],
]

export const rules: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    Object.entries(shared).map(([name, rule]) => [
      name,
      (remains: Remains) => rule((ofHistories.includes(name) ? remains : apart(remains)).store),
    ]),
  ),
  accepted: (remains) => shared.accepted?.({ ...remains.store, accepted: apart(remains).store.accepted }) ?? [],
  // No service keeps a ledger of what the neighbours do.
  effects(remains) {
    const { store } = apart(remains)
    return effects?.({ ...store, tasks: store.tasks.filter(({ row }) => !neighbours.includes(row.workflow)) }) ?? []
  },
  orders: (remains) => orders(apart(remains)),
  together: (remains) => together(apart(remains)),
  tails,
  unfired,
  takeover,
  errors,
  database,
  deaths,
  stops,
  bystanders,
  remote,
  direct,
  odd: (remains) => odd(apart(remains)),
  poisoned: (remains) => poisoned(apart(remains)),
  astonished: ({ astonished }) => astonished,
}

export function violations(remains: Remains): string[] {
  return Object.entries(rules).flatMap(([name, rule]) => rule(remains).map((fault) => `${name}: ${fault}`))
}
