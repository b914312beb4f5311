import type { Role } from '../../packages/triarch/src/node/options.ts'
import type { AdaptivePlan } from './adaptive.ts'
import type { Part } from './blueprint.ts'
import type { CachePlan } from './cache.ts'
import type { CrowdPlan } from './crowd.ts'
import type { EntrancePlan } from './entrance.ts'
import type { PoolPlan } from './pool.ts'
import type { Op } from './program.ts'
import type { RefusalPlan } from './refusal.ts'
import type { RespitePlan } from './respite.ts'
import type { TenancyPlan } from './tenancy.ts'
import type { ThrottlePlan } from './throttle.ts'
import type { TuningPlan } from './tuning.ts'

/** All that one run is made of: plain data, drawn from a seed or written by hand, and small when shrunk. */
export interface Plan {
  seed: number
  nodes: NodePlan[]
  settings: Settings
  tasks: TaskPlan[]
  schedules?: SchedulePlan[]
  poison?: PoisonPlan[]
  /** The store forgets once, so long after the beginning, all that it took in the last while (ms). */
  loss?: { at: number; last: number }
  /** When the store's clock leaps ahead, and how far (ms). Nothing but clocks troubles such a world. */
  leaps?: { at: number; ms: number }[]
  /** When a node is stopped and comes back with other code. */
  rollout?: { at: number; node: number; versions: Version[] }[]
  /** Services are ill for a while, behind circuit breakers. */
  outage?: OutagePlan
  /** The store takes no writes for a while. */
  refusal?: RefusalPlan
  /** Programs wait for what is not the task's, which never comes to who waits first. */
  outside?: true
  /** How many attempts of each agent may begin in a time. */
  throttle?: ThrottlePlan
  /** Services without a rate limit ask for a rest now and then. */
  respite?: RespitePlan
  /** Rate limits, bounds and breakers that come, change and go while attempts run. */
  tuning?: TuningPlan
  /** How many attempts of each agent may run over all nodes. */
  crowd?: CrowdPlan
  /** How the slots of each agent are parted by priority. */
  pools?: PoolPlan
  /** How many programs may wait that were submitted. */
  entrance?: EntrancePlan
  /** For how long a task waits for a node to rise by one level (ms). */
  ageing?: number
  /** Tenants share slots and places. */
  tenancy?: TenancyPlan
  /** How queues are ordered: shared between so many tenants, or by age (ms); and how late what is queued may be (ms). With few slots. */
  line?: { concurrency: number } & (
    | { tenants: number; ageing?: undefined }
    | { ageing: number; slack: number; tenants?: undefined }
  )
  /** Names that all nodes want to lead by; after how long a term ends by itself, if it does; how long functions go on that are told to end (ms). */
  reign?: { names: string[]; lasts: number | null; lingers: number }
  /**
   * Values that the operator sets, on a share of the nodes first (null: on all), agents that he pauses for a while, and other leases and
   * sweeps that he wants for a while (ms).
   */
  dial?: {
    words: { at: number; n: number; share: number | null }[]
    pauses: { at: number; ms: number; agent: 'shop' | 'yard' }[]
    paces?: { at: number; ms: number; lease: number; sweep: number }[]
  }
  /** When something outside is ill, which nodes watch and tell of (ms). */
  alarm?: { ills: { at: number; ms: number }[] }
  /** How many attempts run at a time follows the services. */
  adaptive?: AdaptivePlan
  /** Answers of a service are kept. */
  cache?: CachePlan
  /** Agents are in processes without a store, connected to the nodes that have the role. */
  wire?: WirePlan
  /** Nodes give steps to agents of others directly. */
  direct?: DirectPlan
  /** When the operator meddles, and how. */
  moves: Move[]
  /** How long faults go on (ms). */
  chaos: number
  /** What happens to machines. */
  hurts: Hurt[]
  /** What happens to calls: the share of them that meets each fault. */
  calls: Partial<Record<CallFault, number>>
  /** One fault at one call, the `index`-th of all. */
  strike: { index: number; fault: Exclude<CallFault, 'slow' | 'unanswered'> } | null
}

/** When a breaker opens, and for how long (all times in ms). */
export interface BreakerPlan {
  failureRate: number
  window: number
  minimum: number
  open: number
  openMax: number
  probes: number
}

/** When services are ill, their breakers (all times in ms), and what the operator says of them. */
export interface OutagePlan {
  /** `key`: of what is of this key alone. */
  ills: { at: number; ms: number; key?: string }[]
  rule: BreakerPlan & {
    whenOpen?: 'park' | 'fail'
    keyed?: boolean
    /** While it is open, another agent does what the shop would. */
    fallback?: true
  }
  words: { at: number; agent: 'shop' | 'yard'; word: 'open' | 'close' | 'reset'; ms: number }[]
}

/** How many processes of agents there are, what share of their requests meets what, and what happens to them (ms). */
export interface WirePlan {
  processes: number
  /** Which of them speak by WebSockets; none. */
  sockets?: boolean[]
  /** `halfOpen`: who waits for what got lost never hears of it. */
  share: { lost: number; twice: number; slow: number; halfOpen: number }
  hurts: { at: number; process: number; kind: 'crash' | 'freeze' | 'cut' | 'leave'; ms: number }[]
}

/** How connections of nodes among themselves fare. */
export interface DirectPlan {
  /** Of texts: at which the connection breaks, and that are late. `halfOpen`: who was not told that it broke never hears of it. */
  share: { lost: number; slow: number; halfOpen: number }
  /** One that hears nothing of others for a while, is not heard by them, or both (ms). */
  hurts: { at: number; node: number; kind: 'deaf' | 'mute' | 'cut'; ms: number }[]
}

export interface NodePlan {
  roles: Role[]
  /** How far its wall clock is ahead (ms). */
  skew: number
  /** What it bounds; as always. */
  limits?: Bounds
  /** The versions of programs that its code has; the first. */
  versions?: Version[]
}

export type Version = '1' | '2'

/** The engine's limits of these names. */
export interface Bounds {
  history: number
  historyBytes: number
  inbox: number
  inboxBytes: number
  fanOut: number
  memory: number
}

export interface Settings {
  lease: number
  sweep: number
  poll: number
  /** Tasks in memory of one node. */
  tasks: number
  tellsChanges: boolean
  /** A call takes up to so long each way (ms). */
  distance: number
  /** How long an answer of the store is waited for (ms); a minute. */
  patience?: number
  /** Schemas refuse and throw, and so do middleware and whoever hears of errors; `all`: the application knows the schemas. */
  strict?: 'nodes' | 'all'
  /** Whoever listens to the engine throws. */
  throws?: boolean
  /** How long stopped tasks are kept, by result (ms); for ever. */
  retention?: Partial<Record<'success' | 'warning' | 'error' | 'cancelled' | 'compensated', number>>
}

export interface TaskPlan {
  id: string
  at: number
  ops: Op[]
  priority?: number
  /** It is a plan of these, not a program. */
  parts?: Part[]
  /** One task at a time under this name. */
  exclusive?: { key: string; ifHeld: 'queue' | 'replace' }
  /** Tasks it comes after. */
  after?: (string | { task: string; on: 'end' })[]
  startAt?: number
  startBefore?: number
  completeBy?: number
  /** Of its program; the first. */
  version?: Version
  /** Submitted twice. */
  twice?: boolean
  /** Its id is submitted once more, with another input, when retention had its time. */
  again?: boolean
}

/** From `at` on the store takes nothing more of the task; or what it has of it then cannot be read. */
export interface PoisonPlan {
  task: string
  kind: 'refused' | 'unreadable'
  at: number
}

/** A schedule of programs, there from `at` until faults have been over for a while. */
export interface SchedulePlan {
  name: string
  at: number
  /** Of its interval: its length, and one of its instants since the beginning (ms). */
  every: number
  from: number
  overlap: 'skip' | 'queue' | 'allow' | 'cancel-previous'
  /** Of the occurrences that are due at once, so many run, and none that is older (ms). */
  limit: number
  within?: number
  jitter: number
  ops: Op[]
}

export const moves = ['cancel', 'force', 'pause', 'resume', 'retry', 'skip', 'compensate'] as const

export interface Move {
  at: number
  kind: (typeof moves)[number]
  /** Place of its task among the plan's. */
  task: number
}

export const hurtKinds = ['crash', 'freeze', 'restart', 'jump', 'cut'] as const

export interface Hurt {
  at: number
  kind: (typeof hurtKinds)[number]
  /** Place of its node among the plan's. */
  node: number
  /** How long it is gone, stands still, hears nothing; or how far its clock jumps (ms). */
  ms: number
}

/** `slow`: the call or its answer takes up to several leases. `unanswered`: done, late, or not at all, and no answer comes. */
export const commonFaults = ['refused', 'busy', 'unheard', 'twice', 'slow', 'crash-before', 'crash-after'] as const
export const callFaults = [...commonFaults, 'unanswered'] as const
export type CallFault = (typeof callFaults)[number]

/** A plan in which nothing happens yet. */
export function calmPlan(part: Partial<Plan> = {}): Plan {
  return {
    seed: 1,
    nodes: [{ roles: ['scheduler', 'agent', 'supervisor'], skew: 0 }],
    settings: { lease: 1_000, sweep: 200, poll: 100, tasks: 1_000, tellsChanges: true, distance: 0 },
    tasks: [],
    moves: [],
    chaos: 0,
    hurts: [],
    calls: {},
    strike: null,
    ...part,
  }
}
