import type { CarriedBatch } from '../batch/batch.ts'
import type { ErrorRecord, Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { RecordedPolicy } from './policy.ts'
import type { AttemptTrace, Loss, Operation, Trial } from './step.ts'

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
  /** An earlier run of the task did it, and it is still to be undone when the task is. Ordinals are negative: before this run. */
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
      /** What its undo must know of the batch that it ran. */
      batch?: CarriedBatch
    }
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
  /** The service of its action is left alone: from here on this action is the step's, also for its undo. `policy`: as that action has it. */
  | { type: 'fallbackRequested'; id: number; action: string; policy: RecordedPolicy; at: number }
  /** `trial`: it is about to be tried by itself; its process lives on. */
  | {
      type: 'heartbeat'
      id: number
      attempt: number
      progress?: Json
      checkpoint?: Json
      trial?: Trial
      /** It goes to an agent's process that is elsewhere, and may outlive the owner of its task by so long (ms) without a word. */
      given?: number
      /** Its owner is no more, or has no part in it: until this instant its answer is awaited. 0: nobody runs it. */
      awaited?: number
      /** Its agent has put it off until then, without beginning it. From now on it is handed out by way of the queue alone. */
      putOff?: number
    }
  | { type: 'stepFailed'; id: number; error: ErrorRecord }
  /** In a plan, without an output, all that depends on the step goes in its `cascade`. */
  | ({ type: 'stepSkipped'; id: number; output?: Json; cascade?: number[]; by: 'rescue' | 'operator' } & Remark)
  /** A planned step failed; what does not depend on it goes on before its rescue strategy is obeyed. */
  | { type: 'plannedStepFailed'; id: number; error: ErrorRecord }
  | { type: 'stepCancelled'; id: number }
  /** `keepSignal`: the signal that it was busy with comes again when it waits. */
  | ({ type: 'stepRetried'; id: number; input?: Json; at: number; keepSignal?: true } & Remark)
  | { type: 'undoRequested'; id: number; at: number }
  /** `incomplete`: of a child, some of what it did could not be undone. */
  | ({ type: 'undone'; id: number; by?: 'operator'; incomplete?: true } & AttemptTrace & Remark)
