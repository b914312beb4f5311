import type { BatchMove } from './batch.ts'
import type { IfHeld } from './gate.ts'
import type { HookOrder } from './hook.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { Plan } from './plan.ts'
import type { RecordedPolicy, RescueStrategy } from './policy.ts'
import type { Alarm } from './state.ts'
import type { TaskResult } from './status.ts'

/** What an attempt does for its step: the action itself, the question whether it took effect, or its compensation. */
export type Operation = 'run' | 'verify' | 'undo'

/** What a parent wants of a child when the parent is cancelled or fails. */
export type ParentPolicy = 'cancel' | 'detach' | 'wait'

/** How far a process came that tries an attempt by itself (`loss.ts`). */
export type Trial = 'begun' | 'survived'

/**
 * How an attempt was lost: its process died; nothing was heard of it in time, as if it had; it lives, but did not begin in time or
 * was taken for dead; it was stopped in good order.
 */
export type Loss = 'death' | 'silence' | 'alive' | 'stop'

/** When, where and how long an attempt ran. `startedAt` is null when it died unseen. Instants are ms since the epoch. */
export interface AttemptTrace {
  attempt: number
  startedAt: number | null
  endedAt: number
  node: string | null
}

/** The task and the step of it that wait for another; `ordinal`: as one of a batch. */
export interface Parent {
  task: string
  step: number
  ordinal?: number
  /** It waits for the task's end, as it does for a batch's children. */
  awaits?: true
  /** Tasks that wait for the parent's own end, the nearest first. */
  above?: string[]
}

/** The order in which a task was submitted. */
export interface Submission {
  workflow: string
  version: string
  input: Json
  startAt?: number
  startBefore?: number
  completeBy?: number
  priority?: number
  tags?: Record<string, string>
  /** For its steps, and for the tasks it starts. */
  metadata?: Readonly<Record<string, string>>
  /** Locks it must have to begin, and keeps until it stops. */
  exclusive?: { key: string; ifHeld: IfHeld }[]
  /** Tasks that must have stopped first; `success`: and must have succeeded. */
  after?: { task: string; on: 'success' | 'end' }[]
  /** It does not begin before it is thawed. */
  frozen?: true
  parent?: Parent
  hooks?: HookOrder[]
  /** Where secrets are in its input and output. */
  secrets?: string[]
  /**
   * Tells this task from others that had its id before or will have it after: part of its children's ids. Absent in tasks of
   * before the eleventh schema, whose ids and keys are made as they always were.
   */
  life?: string
}

/**
 * Decisions: what the workflow's code asked for. On replay each is compared with what the code asks for now.
 * `id` numbers a task's decisions in the order its code made them, whatever their kind.
 */
export type Decision =
  | {
      type: 'stepRequested'
      id: number
      /** `agent.action`, or null for a local step. */
      action: string | null
      name: string
      input: Json
      policy: RecordedPolicy
    }
  | { type: 'timerStarted'; id: number; until: number }
  | { type: 'waitStarted'; id: number; name: string; until: number | null }
  | {
      type: 'childStarted'
      id: number
      task: string
      workflow: string
      version: string
      /** `call` waits for the child's end, `start` only for its creation. */
      mode: 'call' | 'start'
      onCancel: ParentPolicy
      /** Compensate the child when the parent compensates. */
      undo: boolean
    }
  | { type: 'lockRequested'; id: number; name: string; until: number | null }
  /** `id`: the step of a plan that gives it back. */
  | { type: 'lockReleased'; lock: number; id?: number }
  /**
   * Nobody listens any more to what the code asked for under this id, an event or a lock: it asks again if somebody does.
   * `event`: had come to it already, and goes to who waits for one.
   */
  | { type: 'withdrawn'; id: number; lock?: true; event?: { name: string; payload: Json } }
  | { type: 'undoRegistered'; id: number; name: string; policy?: RecordedPolicy }
  | { type: 'patched'; patch: string }
  | { type: 'progressed'; progress: Json }
  | { type: 'returned'; output: Json }
  | { type: 'threw'; error: ErrorRecord; rescue: RescueStrategy }
  | { type: 'continuedAs'; input: Json }

/** Facts: what happened to the task. */
export type Fact =
  | ({ type: 'submitted' } & Submission)
  /** The plan is being made: nothing of it is durable until it is `planned`. */
  | { type: 'planning' }
  | { type: 'planned'; plan: Plan }
  | { type: 'started' }
  | ({
      type: 'stepCompleted'
      id: number
      output: Json
      /** Set when not the attempt's own answer but a verification or an operator said so. */
      by?: 'verify' | 'operator'
    } & AttemptTrace)
  | ({
      type: 'attemptFailed'
      id: number
      operation: Operation
      error: ErrorRecord
      /** Nobody knows whether the attempt took effect (it timed out, or died with its process). */
      unknown?: true
      /** The step's service is not to blame, but what happened to the process. Not counted as a failure. */
      lost?: Loss
      /** What is attempted next and when; absent when nothing is. */
      next?: { operation: Operation; at: number }
    } & AttemptTrace)
  | { type: 'verified'; id: number; answer: 'not-done' | 'unknown'; next?: { operation: Operation; at: number } }
  | { type: 'verifyRequested'; id: number; at: number }
  /** `trial`: it is about to be tried by itself; its process lives on. */
  | { type: 'heartbeat'; id: number; attempt: number; progress?: Json; checkpoint?: Json; trial?: Trial }
  | ({
      type: 'stepSuspended'
      id: number
      until?: number
      alarms?: Alarm[]
      checkpoint?: Json
      progress?: Json
      wary?: true
      /** Of a batch: how many children it has, once its source says that there are no more. */
      total?: number
    } & AttemptTrace)
  /** An event for a step; `alarm`: the instant for which the step asked for it; `kept`: until it waits again. */
  | { type: 'stepSignalled'; id: number; name: string; payload: Json; alarm?: number; kept?: true }
  /** What was accepted for the task and met a state that has no use for it (any more): nothing came of it, and why. */
  | { type: 'unheeded'; message: string; name?: string; step?: number; reason: string }
  | { type: 'stepFailed'; id: number; error: ErrorRecord }
  /** In a plan, without an output, all that depends on the step goes `along`. */
  | { type: 'stepSkipped'; id: number; output?: Json; along?: number[]; by: 'rescue' | 'operator' }
  /** A planned step failed; what does not depend on it goes on before its rescue strategy is obeyed. */
  | { type: 'stepParked'; id: number; error: ErrorRecord }
  | { type: 'stepCancelled'; id: number }
  /** `keep`: the event that it was busy with comes again when it waits. */
  | { type: 'stepRetried'; id: number; input?: Json; at: number; keep?: true }
  | { type: 'timerFired'; id: number }
  | { type: 'eventReceived'; name: string; payload: Json }
  | { type: 'waitTimedOut'; id: number }
  /** The task asks for the locks of its submission. */
  | { type: 'keysRequested' }
  /** `fence`: higher than that of any grant before. */
  | { type: 'locked'; id: number; fence?: number }
  | { type: 'lockRefused'; id: number; error: ErrorRecord }
  | { type: 'thawed'; startAt?: number }
  /** `result` null: the store does not know the task (any more). */
  | { type: 'antecedentStopped'; task: string; result: TaskResult | null }
  | { type: 'childStopped'; id: number; result: TaskResult; output?: Json; error?: ErrorRecord }
  /** Children of a batch ended and others were started, all of one turn at once. */
  | ({ type: 'batchMoved'; id: number } & BatchMove)
  /** No more children are started, for the batch has failed with this error, or nobody wants the others any more. */
  | { type: 'batchStopping'; id: number; error?: ErrorRecord }
  | { type: 'undoRequested'; id: number; at: number }
  | ({ type: 'undone'; id: number; by?: 'operator' } & AttemptTrace)
  /** `note`: the operator's own words. */
  | { type: 'paused'; reason: PauseReason; error?: ErrorRecord; step?: number; note?: string }
  | { type: 'resumed' }
  /** The task stops what it does: no new step starts; what runs is aborted and awaited; then `next`. */
  | { type: 'unwinding'; cause: 'cancel' | 'deadline' | 'limit' | 'operator'; compensate: boolean; error?: ErrorRecord }
  | { type: 'compensating' }
  /**
   * A stopped task goes on: what came after the outcome of `step` is void (null: only the stop itself). `attempts` and
   * `endId` are not recorded: the rebuild adds how often each step was attempted, so that no old reply can match a new
   * attempt, and the end of all ids, so that a task that starts over uses none again.
   */
  | { type: 'rewound'; step: number | null; input?: Json; attempts?: Record<number, number>; endId?: number }
  | {
      type: 'continued'
      input: Json
      nextId: number
      pending: { name: string; payload: Json }[]
      /** It begins like a task just submitted: a plan is made anew. */
      anew?: true
      /** The locks of its submission are still its own. */
      held?: true
    }
  | { type: 'stopped'; result: TaskResult; output?: Json; error?: ErrorRecord }

export type PauseReason =
  | 'operator'
  | 'lock'
  | 'step'
  | 'undo'
  | 'unknown-outcome'
  | 'mismatch'
  | 'error'
  /** Set apart by the node that had it: the error says why. */
  | 'quarantine'

export type TaskEvent = Decision | Fact
