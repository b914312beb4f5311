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
  /** When it began; absent: no start was reported, or no attempt was made. */
  startedAt?: Date
  /** When its end was recorded. */
  endedAt: Date
  /** The node that ran it. */
  node?: string
  /** The output came from a cache; no attempt was made. */
  cached?: CachedAt
}

/**
 * The origin of a cached answer.
 * @example const old = ({ at, stale }: CachedAt) => stale === true && at.getTime() < Date.now() - 60_000
 */
export interface CachedAt {
  /** When the answer was stored. */
  at: Date
  /** The memory of the process, or the cache that all nodes share. */
  from: 'memory' | 'shared'
  /** The answer was past its `ttl`, and a new one was being requested. */
  stale?: true
}

/**
 * The remark of the person or program that requested an operation, if there is one.
 * @example const byWhom = ({ actor, reason }: HistoryRemark) => `${actor ?? 'somebody'}: ${reason ?? ''}`
 */
export interface HistoryRemark {
  /** The reason, in their words. */
  reason?: string
  /** Who requested it. */
  actor?: string
}

/**
 * The policy of a step as recorded with its request: what differs from the defaults of the version that requested it. Spans in ms.
 * @example const isCareful = ({ semantics }: HistoryPolicy) => semantics === 'at-most-once'
 */
export interface HistoryPolicy {
  /** Complete-by of one attempt, counted from its start (ms). */
  attemptWithin?: number
  /** Complete-by of the whole step, counted from its request (ms). */
  stepWithin?: number
  /** An attempt without a heartbeat for this long is given up (ms). */
  heartbeatWithin?: number
  /** Number of attempts and the waits between them. */
  retry?: Omit<RetryOptions, 'retryIf'>
  /** The same for its compensation. */
  undoRetry?: Omit<RetryOptions, 'retryIf'>
  /** What happens when the attempts are used up. */
  rescue?: RescueOption
  /** Whether it may be tried again if it is unknown whether the last attempt took effect. */
  semantics?: Semantics
  /** Its priority in the agent's queue: higher first. */
  priority?: number
  /** Its share of the task's progress. */
  weight?: number
}

/**
 * One event of a task's history. `id` is the number of its subject in the task: a step, a timer, a wait, a child, a batch or a lock, which
 * share one sequence. Instants are Dates.
 */
export type HistoryEvent =
  /** The task was created. `parent`: the task and step that started it. */
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
      /** The tenant or key under which it waits in the order of ready tasks, and its weight. */
      share?: { readonly key: string; readonly weight: number }
      metadata?: Readonly<Record<string, string>>
      exclusive?: readonly { key: string; ifHeld: IfHeld }[]
      after?: readonly { task: string; on: 'success' | 'end' }[]
      frozen?: true
      parent?: { task: string; step: number }
    }
  /** A task that was submitted frozen may begin, now or at `startAt`. */
  | ({ type: 'thawed'; startAt?: Date } & HistoryRemark)
  /** A predecessor has stopped; no outcome: the store does not know it (any more). */
  | { type: 'predecessorStopped'; task: string; outcome?: TaskOutcome }
  /** The planning code began. */
  | { type: 'planning' }
  /** The plan was made. */
  | { type: 'planned'; plan: PlanView }
  /** The workflow's code, or its plan, began to run. `completeBy`: by the workflow's `runWithin`. */
  | { type: 'started'; completeBy?: Date }
  /** The code took the new branch of a patch. */
  | { type: 'patched'; patch: string }
  /** The code reported its progress. */
  | { type: 'progressed'; progress: Json }
  /** The code returned. */
  | { type: 'returned'; output: Json }
  /** The code threw, or a plan failed; `rescue`: the strategy that applies. */
  | { type: 'threw'; error: ErrorRecord; rescue: RescueStrategy }
  /** The code requested another run with this input. */
  | { type: 'continueAsNewRequested'; input: Json }
  /**
   * Another run begins. `fromStart`: like a task just submitted, with a new plan. `pendingSignals`: signals that the run before had not
   * consumed. `left`: how many effects of earlier runs were to be undone and cannot be undone any more.
   */
  | ({
      type: 'continuedAsNew'
      input: Json
      fromStart?: true
      pendingSignals: readonly { name: string; payload: Json }[]
      left?: number
    } & HistoryRemark)
  /** A request with this id was received; the same request again changes nothing. */
  | { type: 'requestReceived'; request: string }
  /** A request had no effect on the task. `message`: the request; `cause`: why. */
  | ({ type: 'messageIgnored'; message: string; name?: string; step?: number; cause: string } & HistoryRemark)
  /** No new step starts until the task is resumed. `step`: the one that caused the pause. */
  | ({ type: 'paused'; cause: PauseCause; step?: number; error?: ErrorRecord } & HistoryRemark)
  | ({ type: 'resumed' } & HistoryRemark)
  /** The task unwinds: no new step starts, what runs is aborted and awaited. `compensate`: then completed steps are undone. */
  | ({
      type: 'closing'
      cause: 'cancel' | 'deadline' | 'limit' | 'operator'
      compensate: boolean
      error?: ErrorRecord
    } & HistoryRemark)
  /** Compensation began. */
  | { type: 'compensating' }
  | { type: 'stopped'; outcome: TaskOutcome; output?: Json; error?: ErrorRecord }
  /** A stopped task goes on. `step`: all that came after its outcome is void; absent: only the stop itself is. */
  | ({ type: 'reset'; step?: number; input?: Json } & HistoryRemark)
  /** `action`: as `agent.action`; null: a local step. */
  | { type: 'stepRequested'; id: number; action: string | null; name: string; input: Json; policy: HistoryPolicy }
  /** `by`: the result comes from a verification or an operator instead of the attempt's own reply. */
  | ({ type: 'stepCompleted'; id: number; output: Json; by?: 'verify' | 'operator' } & HistoryAttempt)
  /**
   * `unknown`: it is unknown whether the attempt took effect. `lost`: what happened to its process; not counted as a failure. `next`: the
   * next operation, and when it starts.
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
  /** A verification was requested, to start at this instant. */
  | { type: 'verifyRequested'; id: number; at: Date }
  /** The circuit breaker of its action was open; from here on the step has this action. */
  | { type: 'fallbackRequested'; id: number; action: string; at: Date }
  | { type: 'verified'; id: number; answer: 'not-done' | 'unknown'; next?: { operation: Operation; at: Date } }
  | { type: 'heartbeat'; id: number; attempt: number; progress?: Json; checkpoint?: Json }
  | { type: 'stepFailed'; id: number; error: ErrorRecord }
  /** A step of a plan failed; steps that do not depend on it go on before its rescue strategy is applied. */
  | { type: 'plannedStepFailed'; id: number; error: ErrorRecord }
  /** `output`: the substitute that is recorded. `cascade`: steps that are skipped too, because they depend on it. */
  | ({
      type: 'stepSkipped'
      id: number
      output?: Json
      cascade?: readonly number[]
      by: 'rescue' | 'operator'
    } & HistoryRemark)
  | { type: 'stepCancelled'; id: number }
  /** An operator retried the step. */
  | ({ type: 'stepRetried'; id: number; input?: Json; at: Date } & HistoryRemark)
  /** The step is suspended. `total`: of a batch, how many children it has. */
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
  /** The step got a signal. `selfSignalAt`: sent by itself, for this instant. `queued`: kept until the step waits again. */
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
  /** `incomplete`: some effects of the child could not be undone. */
  | ({ type: 'undone'; id: number; by?: 'operator'; incomplete?: true } & HistoryAttempt & HistoryRemark)
  /** The parent has taken the task over for another step. */
  | { type: 'adopted'; parent: { task: string; step: number } }
  /** A step that an earlier run of the task completed, and that is undone when the task is. */
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
  /** The code stopped waiting for a signal or lock. `signal`: had arrived, and goes to another wait. */
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
  /** A child that an earlier run of the task started. */
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
   * Children of a batch ended, others were started. `ended`: ranges of ordinals, inclusive. `refused`: children that were never created.
   * `started`, `retried`: their numbers. `left`: how many have effects that could not be undone. `error`: that of the first child that
   * failed.
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
  /** The task requests the locks of its submission. */
  | { type: 'locksRequested' }
  | { type: 'lockRequested'; id: number; name: string; until?: Date }
  /** `fence`: the fencing number, higher than that of any earlier grant. */
  | { type: 'lockGranted'; id: number; fence?: number }
  | { type: 'lockRefused'; id: number; error: ErrorRecord }
  /** `lock`: the number of its request; `id`: the step of a plan that released it. */
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
