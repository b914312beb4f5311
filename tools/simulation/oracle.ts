import { dated, type Evidence, forced, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Adaptive } from './adaptive.ts'
import type { Alarm } from './alarm.ts'
import type { Archive } from './archive.ts'
import type { Asleep } from './asleep.ts'
import type { Bounds } from './bounds.ts'
import type { Kept } from './cache.ts'
import { spoilt } from './cargo.ts'
import { censored } from './censor.ts'
import { Coverage } from './coverage.ts'
import type { Crowd } from './crowd.ts'
import { effects, type Written } from './desk.ts'
import type { Dial } from './dial.ts'
import type { Entrance } from './entrance.ts'
import { graph } from './graph.ts'
import type { Line } from './line.ts'
import type { Mesh } from './mesh.ts'
import type { Outage } from './outage.ts'
import type { Poison } from './poison.ts'
import type { Pools } from './pool.ts'
import type { Refusal } from './refusal.ts'
import type { Reign } from './reign.ts'
import type { Respite } from './respite.ts'
import { retryWaits } from './retry-wait.ts'
import type { Rollout } from './rollout.ts'
import type { Seniority } from './seniority.ts'
import type { Sight } from './sight.ts'
import type { Tenancy } from './tenancy.ts'
import type { Throttle } from './throttle.ts'
import type { Timetable } from './timetable.ts'
import type { Tuning } from './tuning.ts'
import type { Wire } from './wire.ts'

/** What only a world that sees everything can judge, besides the rules of the crash test. */
export interface Hindsight {
  evidence: Evidence
  asleep: Asleep
  refusal: Refusal
  sight: Sight
  /** Numbers of acknowledged events, by task. */
  sent: Record<string, number[]>
  timetable: Timetable
  archive: Archive
  written: Written[]
  poison: Poison
  bounds: Bounds
  rollout: Rollout
  outage: Outage
  throttle: Throttle
  respite: Respite
  tuning: Tuning
  reign: Reign
  line: Line
  crowd: Crowd
  pools: Pools
  entrance: Entrance
  seniority: Seniority
  tenancy: Tenancy
  dial: Dial
  alarm: Alarm
  kept: Kept
  adaptive: Adaptive
  wire: Wire
  mesh: Mesh
  /** Attempts that something was around; null: nothing is to be. */
  wrapped: ReadonlySet<string> | null
  /** The longest that a service asks for by `retryAfter` (ms). */
  asked: number
}

type Oracle = (hindsight: Hindsight) => string[]

/** A timer fires, in true time, no sooner than it is due. */
const early: Oracle = ({ evidence, sight }) =>
  evidence.tasks.flatMap((story) => {
    const due = new Map<number, number>()
    return story.records.flatMap(({ seq, events }) => {
      const at = sight.durable.get(story.row.id)?.get(seq)
      return events.flatMap((event) => {
        if (event.type === 'timerStarted') due.set(event.id, event.until)
        if (event.type === 'waitStarted' && event.until !== null) due.set(event.id, event.until)
        if (event.type !== 'timerFired' && event.type !== 'waitTimedOut') return []
        const until = due.get(event.id)
        if (at === undefined || until === undefined || at >= until) return []
        return [`${story.row.id}: ${event.type} of ${event.id} is ${until - at} ms early in true time`]
      })
    })
  })

/** Events arrive in the order they were sent in, once, and none between others is lost. */
const letters: Oracle = ({ evidence, sent }) =>
  evidence.tasks.flatMap((story) => {
    const acknowledged = sent[story.row.id]
    if (!acknowledged || remade(story)) return []
    const received = heard(story)
    const last = received.at(-1) ?? 0
    return [
      ...received
        .filter((number, index) => number <= (received[index - 1] ?? 0))
        .map((number) => `${story.row.id}: event ${number} came twice or out of order: ${received.join()}`),
      ...acknowledged
        .filter((number) => number < last && !received.includes(number))
        .map((number) => `${story.row.id}: event ${number} was lost between others`),
    ]
  })

/** No attempt starts twice: whoever takes over counts it as lost, and starts the next. */
const starts: Oracle = ({ evidence }) => {
  const calls = evidence.ledger.filter(({ kind }) => kind === 'call')
  const attempts = Map.groupBy(calls, ({ key, operation, attempt }) => `${operation} attempt ${attempt} of ${key}`)
  return [...attempts]
    .filter(([, { length }]) => length > 1)
    .map(([name, { length }]) => `${name} started ${length} times`)
}

const edges: Oracle = ({ evidence }) =>
  evidence.tasks.flatMap((story) => graph(story).map((fault) => `${story.row.id}: ${fault}`))

/** Of one name, one task at a time has the lock: from the record that says so to the one that gives it back. */
const locks: Oracle = ({ evidence, sight }) => {
  const spans = evidence.tasks.flatMap((story) => (rewound(story) ? [] : holdings(story, sight)))
  return spans.flatMap((one, index) =>
    spans
      .slice(index + 1)
      .filter(
        ({ name, task, from, until }) => name === one.name && task !== one.task && from < one.until && one.from < until,
      )
      .map(({ task, name }) => `${task} and ${one.task} had "${name}" at once`),
  )
}

interface Holding {
  task: string
  name: string
  from: number
  until: number
}

function holdings({ row, records }: Story, { durable }: Sight): Holding[] {
  const names = new Map<number, string>()
  const held = new Map<number, Holding>()
  const all: Holding[] = []
  for (const { seq, events } of records) {
    const at = durable.get(row.id)?.get(seq) ?? Number.NaN
    for (const event of events) {
      if (event.type === 'submitted')
        for (const [place, { key }] of (event.exclusive ?? []).entries()) names.set(-place, key)
      if (event.type === 'lockRequested') names.set(event.id, event.name)
      if (event.type === 'lockGranted') {
        const holding = { task: row.id, name: names.get(event.id) ?? '', from: at, until: Number.POSITIVE_INFINITY }
        held.set(event.id, holding)
        all.push(holding)
      }
      for (const [id, holding] of held) {
        const over = event.type === 'stopped' || (event.type === 'lockReleased' && event.lock === id)
        if (over) holding.until = Math.min(holding.until, at)
      }
    }
  }
  return all
}

/** A step that waits and wants to know when its task stops is told so before it is cancelled. */
const told: Oracle = ({ evidence }) =>
  evidence.tasks.flatMap((story) => {
    if (rewound(story) || forced(story)) return []
    /** Steps that wait, and whether they want to know; events that came while each was busy. */
    const waiting = new Map<number, boolean>()
    const queued = new Map<number, number>()
    const heard = new Set<number>()
    return dated(story).flatMap(({ event }) => {
      if (event.type === 'continuedAsNew') for (const known of [waiting, queued, heard]) known.clear()
      if (event.type === 'stepSuspended') {
        const left = queued.get(event.id) ?? 0
        if (left > 0) queued.set(event.id, left - 1)
        else waiting.set(event.id, event.notifyOnCancel === true && !heard.has(event.id))
      }
      if (event.type === 'stepSignalled') {
        if (!waiting.delete(event.id)) queued.set(event.id, (queued.get(event.id) ?? 0) + 1)
        if (event.name === 'cancel') heard.add(event.id)
      }
      // It had been given an event again, by a retry: it did not wait.
      if (event.type === 'attemptFailed' || event.type === 'plannedStepFailed') waiting.delete(event.id)
      if (event.type !== 'stepCancelled' || !waiting.get(event.id)) return []
      return [`${story.row.id}: step ${event.id} was cancelled while it waited, and not told`]
    })
  })

/** Of a schedule, each occurrence is one task, or none where its own rule says so. */
const occurrences: Oracle = ({ evidence, timetable }) => timetable.judge(evidence)

/** Retention drops what it may, in time, and nothing else; the id is free then. */
const retained: Oracle = ({ archive }) => archive.faults

/** What a step writes in a transaction of the store is there exactly when its record is, and once. */
const transactions: Oracle = ({ evidence, written, archive }) => {
  const { reborn } = archive
  const tasks = evidence.tasks.filter(({ row }) => !reborn.has(row.id))
  return effects({ ...evidence, tasks }, written)
}

/** Who harms nobody is not quarantined; who does is, and not tried for ever. That it ends, and the others do, is `liveness`. */
const quarantine: Oracle = ({ poison }) => poison.faults

/** Nothing becomes larger than it may. */
const bounds: Oracle = ({ bounds, evidence }) => bounds.judge(evidence)

/** A task is with nodes that have its version. */
const versions: Oracle = ({ rollout }) => rollout.faults

/** Schemas and middleware are heeded, and what they throw costs nobody anything else. */
const strict: Oracle = ({ evidence, wrapped }) => (wrapped ? censored(evidence, wrapped) : [])

/** Behind an open breaker no more attempts begin than its probes, also of what has a fallback. That what was parked ends is `liveness`. */
const breakers: Oracle = ({ outage }) => outage.faults

/** In no span of time do more attempts begin than the rate limit says, over all nodes. That what waited ends is `liveness`. */
const rates: Oracle = ({ throttle }) => throttle.faults

/** While a service without a rate limit rests that asked for it, nothing of its agent begins on any node that can know. That what waited ends is `liveness`. */
const respites: Oracle = ({ respite }) => respite.faults

/** No more attempts of an agent, or of its action, run over all nodes than may. That seats come back, and what waited ends, is `liveness`. */
const crowds: Oracle = ({ crowd }) => crowd.faults

/** In no process do more attempts run of one pool than it has slots. That what waits for either ends is `liveness`. */
const pools: Oracle = ({ pools }) => pools.faults

/** Of what one application submits no more waits than may. That what was refused or held back is taken in the end is `liveness`. */
const entrance: Oracle = ({ entrance }) => entrance.faults

/** Where tasks age no ready task is left for one that should come later: so none starves. That all end is `liveness`. */
const seniority: Oracle = ({ seniority }) => seniority.faults

/** A newcomer to a shared queue waits for few of each other; where steps age nobody is passed by who should come later. */
const queues: Oracle = ({ line }) => line.faults

/** In the queues of keys and in the line of tasks, a newcomer waits for few of each other tenant, and those who wait are served by weight. */
const tenants: Oracle = ({ tenancy }) => tenancy.faults

/** By one name one process leads at a time, each with a higher token. */
const leaders: Oracle = ({ reign }) => reign.faults

/** A value on trial runs where it is to, and nothing of a paused agent begins where that is known. That all come to run the same is `liveness`. */
const settings: Oracle = ({ dial }) => dial.faults

/**
 * Settings of policies reach every node that can read them, and by each version no more attempts begin or run, over all nodes that go by it, than it
 * says. That all come to go by the same is `liveness`.
 */
const policies: Oracle = ({ tuning }) => tuning.faults

/** Of what is ill outside somebody is told once, and of its end; of a store that went back nobody, where it did not. That each alert comes to its end is `liveness`. */
const alerts: Oracle = ({ alarm }) => alarm.faults
/** A limit that follows its service falls while that is ill, and rises again when it is well. That no more run than it allows is `slots`. */
const limits: Oracle = ({ adaptive }) => adaptive.faults

/** One asks at a time for all who ask the same; what is given again is neither too old nor declared wrong before; no cache fails a step. */
const caches: Oracle = ({ kept, evidence }) => kept.judge(evidence)

/** What a connected agent's process is told that it need not keep is durable. */
const wires: Oracle = ({ wire }) => wire.faults

/** States move along the published table. */
const moves: Oracle = ({ evidence }) => {
  const coverage = new Coverage()
  coverage.add(evidence)
  return coverage.illegal.map((move) => `${move} is no move of the table`)
}

const oracles: Record<string, Oracle> = {
  told,
  asleep: ({ asleep }) => asleep.faults,
  known: ({ refusal, evidence }) => refusal.faults(evidence),
  locks,
  moves,
  early,
  letters,
  starts,
  edges,
  occurrences,
  retained,
  transactions,
  quarantine,
  bounds,
  versions,
  strict,
  breakers,
  rates,
  respites,
  crowds,
  pools,
  entrance,
  seniority,
  queues,
  tenants,
  leaders,
  settings,
  policies,
  alerts,
  limits,
  caches,
  wires,
  values: ({ evidence }) => spoilt(evidence),
  answers: ({ evidence, mesh }) => mesh.losses(evidence),
  retries: ({ evidence, asked }) => evidence.tasks.flatMap((story) => retryWaits(story, asked)),
}

/** The oracle's name. */
export function oracleOf(violation: string): string {
  return violation.slice(0, violation.indexOf(':'))
}

/** What holds although the store has forgotten something: what was done then cannot be known from it. */
const lasting = ['liveness', 'engine', 'rows', 'gapless', 'fold', 'rest', 'closed', 'pauses', 'slots']

export function lasts(violation: string): boolean {
  return lasting.includes(oracleOf(violation))
}

/** A history that contradicts itself cannot be judged by all the rules. */
export function judged(rules: () => string[]): string[] {
  try {
    return rules()
  } catch (error) {
    return [`fold: a history cannot be judged: ${(error as Error).message}`]
  }
}

export function judge(hindsight: Hindsight): string[] {
  return Object.entries(oracles).flatMap(([name, oracle]) => oracle(hindsight).map((fault) => `${name}: ${fault}`))
}

/** Numbers of the events the task took in, oldest first. */
export function heard(story: Story): number[] {
  return dated(story).flatMap(({ event }) =>
    event.type === 'signalReceived' && event.name === 'news' ? [event.payload as number] : [],
  )
}

/** An operator began it anew, or stopped it without hearing it out. */
export function remade(story: Story): boolean {
  const events = dated(story).map(({ event }) => event)
  const again = events.some(({ type }, at) => type === 'continuedAsNew' && !events.slice(0, at).some(isContinue))
  return rewound(story) || forced(story) || again || events.filter(({ type }) => type === 'stopped').length > 1
}

function isContinue({ type }: { type: string }): boolean {
  return type === 'continueAsNewRequested'
}
