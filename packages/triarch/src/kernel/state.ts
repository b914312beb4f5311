import type { Batch } from './batch.ts'
import type { Operation, Parent, ParentPolicy, PauseReason } from './event.ts'
import type { Antecedent, Lock } from './gate.ts'
import type { HookOrder } from './hook.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { Mail } from './mailbox.ts'
import type { PlanState } from './plan.ts'
import type { StepPolicy } from './policy.ts'
import type { StepStatus, TaskResult, TaskStatus } from './status.ts'
import { Table } from './table.ts'

/** A task as the fold of its history. Only `apply` writes to it, but for the two volatile marks of a step. */
export interface TaskState {
  id: string
  workflow: string
  version: string
  input: Json
  status: TaskStatus
  result: TaskResult
  output: Json | undefined
  error: ErrorRecord | undefined
  progress: Json | undefined
  startAt: number | null
  startBefore: number | null
  completeBy: number | null
  priority: number
  tags: Record<string, string>
  /** Null: it was submitted without. */
  metadata: Readonly<Record<string, string>> | null
  parent: Parent | null
  /** Of its submission; null: it is older than that. */
  life: string | null
  /** It does not begin before it is thawed. */
  frozen: boolean
  /** The tasks it comes after. */
  antecedents: Table<string, Antecedent>
  /** Locks it has, or waits for. */
  locks: Table<number, Lock>
  hooks: readonly HookOrder[]
  /** Events so far: an event's ordinal is its place in this count. */
  ordinal: number
  /** Those of them that only say how far a step is, or what operators said: they do not count against the bound of the history. */
  asides: number
  /** Id of the first decision of this run (a task that continued as new goes on counting). */
  firstId: number
  /** Id the next decision gets. */
  nextId: number
  /** Above every id that a decision of the task ever had, also one that a rewind made void. */
  endId: number
  /** How often the task was rewound: part of the idempotency key of steps requested since. */
  generation: number
  failures: number
  /** Attempts that steps had before the task was last rewound, by step: those requested anew go on counting. */
  tried: Readonly<Record<number, number>>
  /** Its code has begun to run. */
  begun: boolean
  skipped: boolean
  undone: number
  /** Compensation began: what was done no longer stands, so the run cannot go on. */
  undoBegun: boolean
  lastFailed: number | null
  /** Steps that are not done, or are being undone. */
  steps: Map<number, Step>
  /** Completed steps that can be undone: apart, so that no turn has to look through them. */
  done: Map<number, Step>
  timers: Table<number, number>
  waits: Table<number, { name: string; until: number | null }>
  children: Table<number, Child>
  /** Events received that nobody waited for yet, oldest first. */
  mailbox: Mail[]
  patches: Set<string>
  pause: Pause | null
  /** Deliveries held back while paused. */
  deferred: Delivery[]
  unwinding: Unwinding | null
  /** Null: a durable function, or not planned yet. */
  plan: PlanState | null
  /** Of steps that are or were suspended. */
  suspensions: Table<number, Suspension>
  /** By the steps that run them. */
  batches: Table<number, Batch>
}

export interface Pause {
  reason: PauseReason
  /** What it was before, and will be again. */
  from: TaskStatus
  error: ErrorRecord | undefined
  /** The operator's own words. */
  note: string | undefined
  /** The code stopped at a mismatch or an error of its own, and starts anew when the task goes on. */
  broken: boolean
}

/** Why a task stops doing what it does, and what comes when all that ran is settled. */
export interface Unwinding {
  cause: 'returned' | 'threw' | 'continue' | 'cancel' | 'deadline' | 'limit' | 'operator'
  compensate: boolean
  output?: Json
  error?: ErrorRecord
}

/** One planned or requested execution of an action. */
export interface Step {
  id: number
  /** Null: local, or (with `undoOnly`) a registered compensation. */
  action: string | null
  name: string
  undoOnly: boolean
  input: Json
  policy: StepPolicy
  generation: number
  status: StepStatus
  /** What is attempted now, and which attempt of that operation it is. */
  operation: Operation
  attempt: number
  attempts: Record<Operation, number>
  /** Failures counted against each operation's retry budget. */
  failures: Record<Operation, number>
  /** Attempts lost with their process since the last that ended otherwise. */
  losses: number
  /** Those of them since a process tried it by itself and lived on. */
  doubts: number
  /** Those of them that the process tried by themselves, and died of, as it seems. */
  strikes: number
  /** Until then it may only be tried by itself. */
  patientUntil: number
  /** A process tries the current attempt by itself, and has outlived its beginning. */
  begun: boolean
  lived: boolean
  /** The current attempt may start from this instant on. */
  due: number
  /** The last run attempt may or may not have taken effect. */
  unknown: boolean
  /** Until then an attempt of unknown outcome may still take effect: its complete-by. */
  doubtUntil: number
  /** Waits for an operator, and why. */
  held: PauseReason | null
  /** An operator set it going while others of its task are still held: it goes on though the task is paused. */
  released: boolean
  requestedAt: number
  completedAt: number
  expiresAt: number | null
  output: Json | undefined
  error: ErrorRecord | undefined
  checkpoint: Json | undefined
  progress: Json | undefined
  /** What the current attempt is told; null: it begins. */
  event: StepEvent | null
  /** It wants to be told when its task stops while it is suspended. */
  wary: boolean
  /** Volatile: the current attempt was handed to an agent by this process (or lives in a work queue). */
  dispatched: boolean
  /** Volatile: until then nobody has a place for it. */
  deferred: number
  /** Volatile: its abort was asked for. */
  aborted: boolean
}

/** What a suspended step runs again with. */
export interface StepEvent {
  /** `timeout` and `cancel` come from the engine, `resume` from triarch.resume() unless it says otherwise. */
  name: string
  payload: Json
}

/** An event a step sends to itself. */
export interface Alarm extends StepEvent {
  at: number
}

export interface Suspension {
  /** It is told `timeout` then. */
  until: number | null
  alarms: Alarm[]
  /** Events that came while it was running, oldest first. */
  queue: StepEvent[]
}

export interface Child {
  id: number
  task: string
  workflow: string
  mode: 'call' | 'start'
  onCancel: ParentPolicy
  undo: boolean
  status: 'running' | 'stopped' | 'compensating'
  succeeded: boolean
  requestedAt: number
  completedAt: number
}

/** What reaches the workflow's code, in recorded order. */
export type Delivery = { id: number } & (
  | { ok: true; value: Json }
  | { ok: false; reason: 'step'; error: ErrorRecord; step: Step }
  | { ok: false; reason: 'timeout'; name: string }
  | { ok: false; reason: 'lock'; error: ErrorRecord }
  | { ok: false; reason: 'child'; result: TaskResult; error: ErrorRecord | undefined; task: string }
)

export function newState(id: string): TaskState {
  return {
    id,
    workflow: '',
    version: '',
    input: null,
    status: 'pending',
    result: 'pending',
    output: undefined,
    error: undefined,
    progress: undefined,
    startAt: null,
    startBefore: null,
    completeBy: null,
    priority: 0,
    tags: {},
    metadata: null,
    parent: null,
    life: null,
    frozen: false,
    antecedents: new Table(),
    locks: new Table(),
    hooks: [],
    ordinal: 0,
    asides: 0,
    firstId: 1,
    nextId: 1,
    endId: 1,
    generation: 0,
    failures: 0,
    tried: {},
    begun: false,
    skipped: false,
    undone: 0,
    undoBegun: false,
    lastFailed: null,
    steps: new Map(),
    done: new Map(),
    timers: new Table(),
    waits: new Table(),
    children: new Table(),
    mailbox: [],
    patches: new Set(),
    pause: null,
    deferred: [],
    unwinding: null,
    plan: null,
    suspensions: new Table(),
    batches: new Table(),
  }
}
