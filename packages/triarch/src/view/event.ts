import type { RescueOption } from '../definition/policy.ts'
import type { RetryOptions } from '../definition/retry.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { RescueStrategy, Semantics } from '../kernel/step/policy.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { ParentPolicy } from '../kernel/task/order.ts'
import type { PauseCause } from '../kernel/task/pause.ts'
import type { PlanView } from '../planning/preview.ts'

/**
 * When, where and how long an attempt ran.
 * @example const took = ({ startedAt, endedAt }: HistoryAttempt) => Number(endedAt) - Number(startedAt)
 */
export interface HistoryAttempt {
  /** Which attempt of its operation it was, from 1. */
  attempt: number
  /** When it began; absent: it died unseen, or nothing was tried. */
  startedAt?: Date
  /** When its end was seen. */
  endedAt: Date
  /** The node that ran it. */
  node?: string
  /** Nothing was tried: it is the answer of before, from a cache. */
  cached?: CachedAt
}

/**
 * Where an answer of before came from.
 * @example const old = ({ at, stale }: CachedAt) => stale === true && at.getTime() < Date.now() - 60_000
 */
export interface CachedAt {
  /** When it was kept. */
  at: Date
  /** The memory of the process that was asked, or what all nodes share. */
  from: 'memory' | 'shared'
  /** It was older than its `ttl`, and another was asked for. */
  stale?: true
}

/**
 * What the person or program that asked for it said of it, if anything.
 * @example const byWhom = ({ actor, reason }: HistoryRemark) => `${actor ?? 'somebody'}: ${reason ?? ''}`
 */
export interface HistoryRemark {
  /** Why, in their words. */
  reason?: string
  /** Who. */
  actor?: string
}

/**
 * How a step is tried, as it was recorded with its request: what differs from the defaults of the version that requested it. Spans in ms.
 * @example const isCareful = ({ semantics }: HistoryPolicy) => semantics === 'at-most-once'
 */
export interface HistoryPolicy {
  /** Complete-by of one attempt, counted from its start (ms). */
  attemptWithin?: number
  /** Complete-by of the whole step, counted from its request (ms). */
  stepWithin?: number
  /** An attempt without a heartbeat for this long is given up (ms). */
  heartbeatWithin?: number
  /** How often and at what distance it is tried. */
  retry?: Omit<RetryOptions, 'retryIf'>
  /** The same of its compensation. */
  undoRetry?: Omit<RetryOptions, 'retryIf'>
  /** What happens when the attempts are used up. */
  rescue?: RescueOption
  /** Whether it may be tried again when nobody knows if the last attempt took effect. */
  semantics?: Semantics
  /** Its place in the agent's queue: higher first. */
  priority?: number
  /** Its share of the task's progress. */
  weight?: number
}

/**
 * One event of a task's history. `id` is the number of what it is about in its task: a step, a timer, a wait, a child, a batch or a lock, which
 * share one sequence. Instants are Dates.
 */
export type HistoryEvent =
  /** The task came to be. `parent`: the task, and the step of it, that started it. */
  | {
      type: 'submitted'
      workflow: string
      version: string
      input: Json
      startAt?: Date
      startBefore?: Date
      completeBy?: Date
      priority?: number
      tags?: Readonly<Record<string, string>>
      /** Whose it is in the line of ready tasks, and with which weight. */
      share?: { readonly key: string; readonly weight: number }
      metadata?: Readonly<Record<string, string>>
      exclusive?: readonly { key: string; ifHeld: IfHeld }[]
      after?: readonly { task: string; on: 'success' | 'end' }[]
      frozen?: true
      parent?: { task: string; step: number }
    }
  /** A task that was submitted frozen may begin, now or at `startAt`. */
  | ({ type: 'thawed'; startAt?: Date } & HistoryRemark)
  /** A task that this one comes after has stopped; no outcome: the store does not know it (any more). */
  | { type: 'predecessorStopped'; task: string; outcome?: TaskOutcome }
  /** The code that plans began. */
  | { type: 'planning' }
  /** The plan was made. */
  | { type: 'planned'; plan: PlanView }
  /** The workflow's code, or its plan, began to run. `completeBy`: by the workflow's `runWithin`. */
  | { type: 'started'; completeBy?: Date }
  /** The code took the new way of a patch. */
  | { type: 'patched'; patch: string }
  /** The code said how far it is. */
  | { type: 'progressed'; progress: Json }
  /** The code returned. */
  | { type: 'returned'; output: Json }
  /** The code threw, or a plan failed; `rescue`: what that leads to. */
  | { type: 'threw'; error: ErrorRecord; rescue: RescueStrategy }
  /** The code asked for another run with this input. */
  | { type: 'continueAsNewRequested'; input: Json }
  /** Another run begins. `fromStart`: as a task just submitted, its plan is made anew. `pendingSignals`: of the run before, not heard yet. `left`: of what runs before it did and were to undo, how much cannot be undone any more. */
  | ({
      type: 'continuedAsNew'
      input: Json
      fromStart?: true
      pendingSignals: readonly { name: string; payload: Json }[]
      left?: number
    } & HistoryRemark)
  /** What was asked for under this name was taken: asked for again, it changes nothing. */
  | { type: 'requestReceived'; request: string }
  /** What was asked of the task came to nothing. `message`: what it was; `cause`: why. */
  | ({ type: 'messageIgnored'; message: string; name?: string; step?: number; cause: string } & HistoryRemark)
  /** No new step starts until it is resumed. `step`: the one that it is about. */
  | ({ type: 'paused'; cause: PauseCause; step?: number; error?: ErrorRecord } & HistoryRemark)
  | ({ type: 'resumed' } & HistoryRemark)
  /** The task stops what it does: no new step starts, what runs is aborted and awaited. `compensate`: then what is done is undone. */
  | ({
      type: 'closing'
      cause: 'cancel' | 'deadline' | 'limit' | 'operator'
      compensate: boolean
      error?: ErrorRecord
    } & HistoryRemark)
  /** It began to undo what is done. */
  | { type: 'compensating' }
  | { type: 'stopped'; outcome: TaskOutcome; output?: Json; error?: ErrorRecord }
  /** A stopped task goes on. `step`: what came after its outcome is void; absent: only the stop itself is. */
  | ({ type: 'reset'; step?: number; input?: Json } & HistoryRemark)
  /** `action`: as `agent.action`; null: a local step. */
  | { type: 'stepRequested'; id: number; action: string | null; name: string; input: Json; policy: HistoryPolicy }
  /** `by`: not the attempt's own answer, but a verification or an operator said so. */
  | ({ type: 'stepCompleted'; id: number; output: Json; by?: 'verify' | 'operator' } & HistoryAttempt)
  /**
   * `unknown`: nobody knows whether it took effect. `lost`: what happened to its process; not counted as a failure. `next`: what is
   * attempted next, and when.
   */
  | ({
      type: 'attemptFailed'
      id: number
      operation: Operation
      error: ErrorRecord
      unknown?: true
      lost?: 'death' | 'silence' | 'alive' | 'stop'
      next?: { operation: Operation; at: Date }
    } & HistoryAttempt)
  /** Whether the attempt took effect is asked from this instant on. */
  | { type: 'verifyRequested'; id: number; at: Date }
  /** The circuit breaker before its action was open: from here on the step is one of this action. */
  | { type: 'fallbackRequested'; id: number; action: string; at: Date }
  | { type: 'verified'; id: number; answer: 'not-done' | 'unknown'; next?: { operation: Operation; at: Date } }
  | { type: 'heartbeat'; id: number; attempt: number; progress?: Json; checkpoint?: Json }
  | { type: 'stepFailed'; id: number; error: ErrorRecord }
  /** In a plan: what does not depend on the step goes on before its rescue strategy is obeyed. */
  | { type: 'plannedStepFailed'; id: number; error: ErrorRecord }
  /** `output`: recorded in place of its own. `cascade`: steps that go with it, for they depend on it. */
  | ({
      type: 'stepSkipped'
      id: number
      output?: Json
      cascade?: readonly number[]
      by: 'rescue' | 'operator'
    } & HistoryRemark)
  | { type: 'stepCancelled'; id: number }
  /** An operator set it going again. */
  | ({ type: 'stepRetried'; id: number; input?: Json; at: Date } & HistoryRemark)
  /** It waits, and holds nothing meanwhile. `total`: of a batch, how many children it has. */
  | ({
      type: 'stepSuspended'
      id: number
      until?: Date
      selfSignals?: readonly { name: string; payload: Json; at: Date }[]
      checkpoint?: Json
      progress?: Json
      onCancel?: true
      total?: number
    } & HistoryAttempt)
  /** It was given a signal. `selfSignalAt`: its own, for this instant. `queued`: until it waits again. */
  | ({
      type: 'stepSignalled'
      id: number
      name: string
      payload: Json
      selfSignalAt?: Date
      queued?: true
    } & HistoryRemark)
  /** `task.undo` was called. */
  | { type: 'undoRegistered'; id: number; name: string; policy?: HistoryPolicy }
  | { type: 'undoRequested'; id: number; at: Date }
  /** `incomplete`: of a child, some of what it did could not be undone. */
  | ({ type: 'undone'; id: number; by?: 'operator'; incomplete?: true } & HistoryAttempt & HistoryRemark)
  /** The task that started it wants it for another step. */
  | { type: 'adopted'; parent: { task: string; step: number } }
  /** An earlier run of the task did it, and it is undone when the task is. */
  | {
      type: 'stepCarried'
      id: number
      action: string | null
      name: string
      input: Json
      output: Json
      policy: HistoryPolicy
    }
  | { type: 'timerStarted'; id: number; until: Date }
  | { type: 'timerFired'; id: number }
  /** The code waits for a signal. */
  | { type: 'waitStarted'; id: number; name: string; until?: Date }
  | { type: 'waitTimedOut'; id: number }
  /** Nobody listens any more to what was asked for. `signal`: had come, and goes to who waits for one. */
  | { type: 'waitCancelled'; id: number; lock?: true; signal?: { name: string; payload: Json } }
  | ({ type: 'signalReceived'; name: string; payload: Json } & HistoryRemark)
  /** `mode`: `call` waits for the child's end, `start` does not. `undo`: it is undone with its parent. */
  | {
      type: 'childStarted'
      id: number
      task: string
      workflow: string
      version: string
      mode: 'call' | 'start'
      onCancel: ParentPolicy
      undo: boolean
    }
  /** An earlier run of the task started it. */
  | {
      type: 'childCarried'
      id: number
      task: string
      workflow: string
      mode: 'call' | 'start'
      onCancel: ParentPolicy
      undo: boolean
    }
  | { type: 'childStopped'; id: number; outcome: TaskOutcome; output?: Json; error?: ErrorRecord }
  /**
   * Children of a batch ended, others were started. `ended`: by ordinals, inclusive. `refused`: those that were never made. `started`, `retried`: how
   * many. `left`: of how many some could not be undone. `error`: how the first that failed ended.
   */
  | {
      type: 'batchAdvanced'
      id: number
      ended?: readonly { from: number; to: number; outcome: TaskOutcome }[]
      refused?: readonly number[]
      started?: number
      retried?: number
      left?: number
      error?: ErrorRecord
    }
  /** No more children are started. */
  | { type: 'batchStopping'; id: number; error?: ErrorRecord }
  /** The task asks for the locks of its submission. */
  | { type: 'locksRequested' }
  | { type: 'lockRequested'; id: number; name: string; until?: Date }
  /** `fence`: higher than that of any grant before. */
  | { type: 'lockGranted'; id: number; fence?: number }
  | { type: 'lockRefused'; id: number; error: ErrorRecord }
  /** `lock`: the number under which it was asked for; `id`: the step of a plan that gave it back. */
  | { type: 'lockReleased'; lock: number; id?: number }

/**
 * One record of a task's history: what happened in one transition.
 * @example
 * const [submitted] = await task.history()
 * console.log(submitted?.at)
 */
export interface HistoryEntry {
  /** Its place in the history, from 1. */
  seq: number
  /** When it was decided. */
  at: Date
  /** What happened, in this order. */
  events: HistoryEvent[]
  /** Of a task in quarantine: why the record cannot be read. */
  error?: ErrorRecord
  /** Of a task in quarantine: records that are missing before this one. */
  missing?: { from: number; to: number }
}
