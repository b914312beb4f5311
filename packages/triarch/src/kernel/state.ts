import type { Batch } from './batch/batch.ts'
import type { Child } from './child/child.ts'
import { BrokenInvariant } from './invariant.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { AwaitedPredecessor, TaskLock } from './lock/lock.ts'
import type { PlanState } from './plan/plan.ts'
import type { Redaction } from './redaction.ts'
import { mayMove, moves, type TaskOutcome, type TaskStatus } from './status.ts'
import type { Step } from './step/step.ts'
import type { Suspension } from './suspension/suspension.ts'
import { Table } from './table.ts'
import type { FairShare, HookOrder, Parent } from './task/order.ts'
import type { Closing, Pause } from './task/pause.ts'
import type { BufferedSignal } from './wait/buffered-signal.ts'

/** A task as the fold of its history. Only `apply` writes to it, but for the two volatile marks of a step. */
export interface TaskState {
  id: string
  workflow: string
  version: string
  input: Json
  status: TaskStatus
  result: TaskOutcome
  output: Json | undefined
  error: ErrorRecord | undefined
  progress: Json | undefined
  startAt: number | null
  startBefore: number | null
  completeBy: number | null
  priority: number
  tags: Record<string, string>
  /** Null: the task was submitted without metadata. */
  metadata: Readonly<Record<string, string>> | null
  /** Given with the submission; null: the task belongs to no tenant or key. */
  share: FairShare | null
  parent: Parent | null
  /** Another parent than that of the submission has taken the task over. */
  adopted: boolean
  /** Given with the submission; '' if the task's id contains an incarnation already. */
  incarnation: string
  /** The task was submitted frozen and does not begin before it is thawed. */
  frozen: boolean
  /** The tasks that must stop before this one begins. */
  predecessors: Table<string, AwaitedPredecessor>
  /** Locks that the task holds or waits for. */
  locks: Table<number, TaskLock>
  hooks: readonly HookOrder[]
  /** Events so far: an event's ordinal is its place in this count. */
  ordinal: number
  /**
   * Events that do not count against the bound of the history, such as heartbeats and remarks of operators; reduced by the signals carried
   * over from the previous run, which do count.
   */
  asides: number
  /** Id of the first decision of this run (a task that continued as new goes on counting). */
  firstId: number
  /** Id the next decision gets. */
  nextId: number
  /** Above every id that any decision of the task ever had, including decisions that a rewind made void. */
  endId: number
  /** How often the task was rewound: part of the idempotency key of steps requested since. */
  generation: number
  /** How often the task has stopped. A task that is retried, or compensated after it succeeded, stops again. */
  stops: number
  failures: number
  /** Attempts that each step had before the task was last rewound; a step requested again continues these numbers. */
  tried: Readonly<Record<number, number>>
  /** The workflow's code has begun to run. */
  begun: boolean
  skipped: boolean
  undone: number
  /** How many effects of the task were to be undone and cannot be undone any more. */
  left: number
  /** Compensation has begun: effects of completed steps are being taken back, so the run cannot go on. */
  undoBegun: boolean
  lastFailed: number | null
  /** Ordinal of the event with which the run began to fail or stop. Outcomes of children recorded after it are not for its code. */
  failedAt: number
  /** Steps that have not ended, or are being undone. */
  steps: Table<number, Step>
  /** Completed steps that can be undone; kept apart so that no turn has to look through them. */
  compensable: Table<number, Step>
  timers: Table<number, number>
  waits: Table<number, { name: string; until: number | null }>
  children: Table<number, Child>
  /** Signals received that no wait has consumed yet, oldest first. */
  mailbox: BufferedSignal[]
  /** Ids of the latest requests that had one, oldest first; they detect repeated requests. */
  requests: readonly string[]
  /** The same for requests made with a resume token. */
  tokenRequests: readonly string[]
  /** Digests of what was requested, by request id, as far as they were given. */
  digests: Readonly<Record<string, string>>
  patches: Table<string, true>
  pause: Pause | null
  /** Deliveries held back while paused. */
  deferred: Delivery[]
  closing: Closing | null
  /** Null: the task runs a durable function, or is not planned yet. */
  plan: PlanState | null
  /** Steps that are or were suspended. */
  suspensions: Table<number, Suspension>
  /** Batches, by the steps that run them. */
  batches: Table<number, Batch>
  /** Which parts of the task's data are secret; null: none. */
  secrets: Redaction | null
}

/** An outcome for the workflow's code; outcomes reach it in the order in which they were recorded. */
export type Delivery = { id: number } & (
  | { ok: true; value: Json }
  | { ok: false; reason: 'step'; error: ErrorRecord; step: Step }
  | { ok: false; reason: 'timeout'; name: string }
  | { ok: false; reason: 'lock'; error: ErrorRecord }
  | { ok: false; reason: 'child'; result: TaskOutcome; error: ErrorRecord | undefined; task: string }
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
    share: null,
    parent: null,
    adopted: false,
    incarnation: '',
    frozen: false,
    predecessors: new Table(),
    locks: new Table(),
    hooks: [],
    ordinal: 0,
    asides: 0,
    firstId: 1,
    nextId: 1,
    endId: 1,
    generation: 0,
    stops: 0,
    failures: 0,
    tried: {},
    begun: false,
    skipped: false,
    undone: 0,
    left: 0,
    undoBegun: false,
    lastFailed: null,
    failedAt: 0,
    steps: new Table(),
    compensable: new Table(),
    timers: new Table(),
    waits: new Table(),
    children: new Table(),
    mailbox: [],
    requests: [],
    tokenRequests: [],
    digests: {},
    patches: new Table(),
    pause: null,
    deferred: [],
    closing: null,
    plan: null,
    suspensions: new Table(),
    batches: new Table(),
    secrets: null,
  }
}

export function decided(state: TaskState, id: number): void {
  if (id >= state.nextId) state.nextId = id + 1
  if (id >= state.endId) state.endId = id + 1
}

export function moveTask(state: TaskState, to: TaskStatus): void {
  if (!mayMove(moves.task, state.status, to))
    throw new BrokenInvariant(`illegal task move ${state.status} → ${to} (${state.id})`)
  state.status = to
}

/** Whether a request with this id was received before. */
export function isRequested({ requests, tokenRequests }: TaskState, request: string): boolean {
  return requests.includes(request) || tokenRequests.includes(request)
}
