import type { Batch } from './batch/batch.ts'
import type { Child } from './child/child.ts'
import { BrokenInvariant } from './invariant.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { Lock, Predecessor } from './lock/lock.ts'
import type { PlanState } from './plan/plan.ts'
import type { Redaction } from './redaction.ts'
import { mayMove, moves, type TaskOutcome, type TaskStatus } from './status.ts'
import type { Step } from './step/step.ts'
import type { Suspension } from './suspension/suspension.ts'
import { Table } from './table.ts'
import type { HookOrder, Parent, Share } from './task/order.ts'
import type { Closing, Pause } from './task/pause.ts'
import type { Mail } from './wait/mail.ts'

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
  /** Null: it was submitted without. */
  metadata: Readonly<Record<string, string>> | null
  /** Of its submission; null: nobody asked whose it is. */
  share: Share | null
  parent: Parent | null
  /** That is of its submission no more. */
  adopted: boolean
  /** Of its submission; '' where the id of the task has one already. */
  incarnation: string
  /** It does not begin before it is thawed. */
  frozen: boolean
  /** The tasks it comes after. */
  predecessors: Table<string, Predecessor>
  /** Locks it has, or waits for. */
  locks: Table<number, Lock>
  hooks: readonly HookOrder[]
  /** Events so far: an event's ordinal is its place in this count. */
  ordinal: number
  /** Those of them that only say how far a step is, or what operators said: they do not count against the bound of the history. Less the signals that the run before left: those do. */
  asides: number
  /** Id of the first decision of this run (a task that continued as new goes on counting). */
  firstId: number
  /** Id the next decision gets. */
  nextId: number
  /** Above every id that a decision of the task ever had, also one that a rewind made void. */
  endId: number
  /** How often the task was rewound: part of the idempotency key of steps requested since. */
  generation: number
  /** How often it has stopped: one that is tried again, or undone after it had succeeded, stops again. */
  stops: number
  failures: number
  /** Attempts that steps had before the task was last rewound, by step: those requested anew go on counting. */
  tried: Readonly<Record<number, number>>
  /** Its code has begun to run. */
  begun: boolean
  skipped: boolean
  undone: number
  /** Of what the task did and was to undo, how much nobody can undo any more. */
  left: number
  /** Compensation began: what was done no longer stands, so the run cannot go on. */
  undoBegun: boolean
  lastFailed: number | null
  /** The event with which the run began to fail or to stop: outcomes of children from there on are no matter of its code. */
  failedAt: number
  /** Steps that are not done, or are being undone. */
  steps: Table<number, Step>
  /** Completed steps that can be undone: apart, so that no turn has to look through them. */
  compensable: Table<number, Step>
  timers: Table<number, number>
  waits: Table<number, { name: string; until: number | null }>
  children: Table<number, Child>
  /** Signals received that nobody waited for yet, oldest first. */
  mailbox: Mail[]
  /** Those of the requests taken last that had a name, oldest first. */
  requests: readonly string[]
  /** The same of those who asked by a resume token. */
  tokenRequests: readonly string[]
  /** What was asked for under those of them that say it. */
  digests: Readonly<Record<string, string>>
  patches: Table<string, true>
  pause: Pause | null
  /** Deliveries held back while paused. */
  deferred: Delivery[]
  closing: Closing | null
  /** Null: a durable function, or not planned yet. */
  plan: PlanState | null
  /** Of steps that are or were suspended. */
  suspensions: Table<number, Suspension>
  /** By the steps that run them. */
  batches: Table<number, Batch>
  /** What of it is secret; null: nothing. */
  secrets: Redaction | null
}

/** What reaches the workflow's code, in recorded order. */
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

/** It was asked for before, under this name. */
export function isRequested({ requests, tokenRequests }: TaskState, request: string): boolean {
  return requests.includes(request) || tokenRequests.includes(request)
}
