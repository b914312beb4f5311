import type { CarriedBatch } from '../batch/batch.ts'
import type { ErrorRecord, Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { RecordedPolicy } from './policy.ts'
import type { AttemptTrace, Loss, Operation, ProbationProgress } from './step.ts'

export type StepDecision =
  | {
      type: 'stepRequested'
      id: number
      /** `agent.action`, or null for a local step. */
      action: string | null
      name: string
      input: Json
      policy: RecordedPolicy
    }
  | { type: 'undoRegistered'; id: number; name: string; policy?: RecordedPolicy }

export type StepFact =
  /**
   * A step that an earlier run of the task completed and that is still to be undone with the task. Ordinals are negative: before this run.
   */
  | {
      type: 'stepCarried'
      id: number
      action: string | null
      name: string
      input: Json
      output: Json
      policy: RecordedPolicy
      generation: number
      requestedAt: number
      completedAt: number
      fallbackOf?: readonly string[]
      /** What the undo must know of the step's batch. */
      batch?: CarriedBatch
    }
  | ({
      type: 'stepCompleted'
      id: number
      output: Json
      /** Set if the result came from a verification or an operator instead of the attempt's own reply. */
      by?: 'verify' | 'operator'
    } & AttemptTrace)
  | ({
      type: 'attemptFailed'
      id: number
      operation: Operation
      error: ErrorRecord
      /** It is unknown whether the attempt took effect (it timed out, or died with its process). */
      unknown?: true
      /** The failure was caused by what happened to the process, not by the step's service, and is not counted. */
      lost?: Loss
      /** What is attempted next and when; absent when nothing is. */
      next?: { operation: Operation; at: number }
    } & AttemptTrace)
  | { type: 'verified'; id: number; answer: 'not-done' | 'unknown'; next?: { operation: Operation; at: number } }
  | { type: 'verifyRequested'; id: number; at: number }
  /** The step's own service is not used: from here on the step has this action, also for its undo. `policy`: that of the action. */
  | { type: 'fallbackRequested'; id: number; action: string; policy: RecordedPolicy; at: number }
  /** `trial`: how far the attempt came under probation, begun or survived. */
  | {
      type: 'heartbeat'
      id: number
      attempt: number
      progress?: Json
      checkpoint?: Json
      trial?: ProbationProgress
      /**
       * The attempt runs in an agent's process without a store, and may outlive the owner of its task by this long (ms) without a report.
       */
      given?: number
      /** The owner is gone or has no part in the attempt; its reply is awaited until this instant. 0: the attempt runs nowhere. */
      awaited?: number
      /** The agent put the attempt off until then without beginning it. From now on it is dispatched through the queue only. */
      putOff?: number
    }
  | { type: 'stepFailed'; id: number; error: ErrorRecord }
  /** A step of a plan that is skipped without an output takes its `cascade` with it: all steps that depend on it. */
  | ({ type: 'stepSkipped'; id: number; output?: Json; cascade?: number[]; by: 'rescue' | 'operator' } & Remark)
  /** A planned step failed. Steps that do not depend on it go on before its rescue strategy is applied. */
  | { type: 'plannedStepFailed'; id: number; error: ErrorRecord }
  | { type: 'stepCancelled'; id: number }
  /** `keepSignal`: the signal that the step was handling is delivered again when it waits. */
  | ({ type: 'stepRetried'; id: number; input?: Json; at: number; keepSignal?: true } & Remark)
  | { type: 'undoRequested'; id: number; at: number }
  /** `incomplete`: some effects of the child could not be undone. */
  | ({ type: 'undone'; id: number; by?: 'operator'; incomplete?: true } & AttemptTrace & Remark)
