// What a run is held to besides the rules of the crash test and the judge of the orders.
import { judge } from '../examples/orders/judge.ts'
import type { LedgerRows } from '../examples/orders/services/ledger.ts'
import { dependsOn } from '../examples/orders/shop.ts'
import type { Evidence } from '../packages/triarch/test/crash/evidence.ts'
import { rules as crashRules } from '../packages/triarch/test/crash/rules.ts'
import type { Oddity } from './neighbours.ts'
import type { Kind } from './plan.ts'
import { BYSTANDERS, LEADER_LIMIT, TAKEOVER_LIMIT } from './settings.ts'
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
  /** What nobody expects, and what became of it. */
  oddities: Oddity[]
  /** Processes that poison killed. */
  murders: Murder[]
  takeovers: Takeover[]
  /** How many times longer than on an idle machine everything took. */
  slowness: number
  /** Processes that ended by themselves, or not when they were asked to. */
  deaths: string[]
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
]

const orders: Rule = ({ orders: { kept, confirmed }, ledgers, store }) => {
  const tasks = store.tasks
    .filter(({ row }) => row.workflow === 'fulfil-order')
    .map(({ row }) => ({ orderId: row.id, status: row.status, result: row.result }))
  const { violations } = judge({
    orders: [...new Set([...kept, ...confirmed])].map((id) => ({ id })),
    ledgers,
    tasks,
    dependsOn,
  })
  return violations.map(({ rule, orderId, detail }) => `${rule}: ${orderId ?? 'no order'}: ${detail}`)
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

/** A task that kills whoever runs it is set apart before it has killed many. */
const poisoned: Rule = ({ murders }) =>
  [...Map.groupBy(murders, ({ task }) => task)]
    .filter(([, killed]) => killed.length > MOST_KILLED)
    .map(([task, killed]) => `${task} killed ${killed.length} processes`)

const MOST_KILLED = 5

/** Processes end by themselves only where poison says that it killed them. */
const deaths: Rule = ({ deaths, murders }) => {
  let explained = murders.length
  return deaths.filter((death) => !death.endsWith('ended by itself (SIGKILL)') || explained-- <= 0)
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

const database: Rule = ({ log }) =>
  complaintsOf(log)
    .filter(({ state, severity, line }) => severity === 'PANIC' || (blunders.test(state) && !overtaken.test(line)))
    .map(({ line }) => line)

export interface Complaint {
  state: string
  severity: string
  line: string
}

/** The errors in the database's log. */
export function complaintsOf(log: string): Complaint[] {
  return log.split('\n').flatMap((line) => {
    const [, state, severity] = /^([0-9A-Z]{5}) .*?\b(ERROR|FATAL|PANIC): /.exec(line) ?? []
    return state && severity ? [{ state, severity, line }] : []
  })
}

// The crash test's own rule on errors knows an embedded store's only.
const { errors: _, effects, ...shared } = crashRules

const neighbours: readonly string[] = ['bystander', 'echo', 'keyed', 'poison']

export const rules: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(Object.entries(shared).map(([name, rule]) => [name, ({ store }: Remains) => rule(store)])),
  // No service keeps a ledger of what the neighbours do.
  effects: ({ store }) =>
    effects?.({ ...store, tasks: store.tasks.filter(({ row }) => !neighbours.includes(row.workflow)) }) ?? [],
  orders,
  together,
  unfired,
  takeover,
  errors,
  database,
  deaths,
  bystanders,
  odd,
  poisoned,
  astonished: ({ astonished }) => astonished,
}

export function violations(remains: Remains): string[] {
  return Object.entries(rules).flatMap(([name, rule]) => rule(remains).map((fault) => `${name}: ${fault}`))
}
