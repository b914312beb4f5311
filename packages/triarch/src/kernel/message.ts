import type { Page } from './batch/batch.ts'
import type { IfChildExists, RefusedChild } from './child/child.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { Plan } from './plan/plan.ts'
import type { TaskOutcome } from './status.ts'
import type { Fallback } from './step/policy.ts'
import type { CacheMark, Loss, Operation, Trial } from './step/step.ts'
import type { Parent } from './task/order.ts'

/** How one attempt ended, as its agent (or the supervisor on its behalf) reports it. */
export type Outcome =
  | { kind: 'done'; output: Json; cached?: CacheMark }
  | { kind: 'not-done' }
  | { kind: 'unknown' }
  | {
      kind: 'failed'
      error: ErrorRecord
      /** The action's own verdict: false for permanent errors. */
      retryable: boolean
      /** The service asked to be left alone for this long (ms). */
      retryAfter?: number
      /** It may have taken effect all the same. */
      unknown?: true
      /** It did its work, and what it gave cannot be recorded. */
      done?: true
      /** It was cut off by what happened to its process. */
      lost?: Loss
      /** It was remembered from before. */
      cached?: CacheMark
    }
  /** It waits, and holds nothing meanwhile. Spans in ms from now. */
  | {
      kind: 'suspended'
      timeout?: number
      alarms?: { in: number; name: string; payload: Json }[]
      checkpoint?: Json
      progress?: Json
      wary?: true
      page?: Page
    }
  /**
   * Withdrawn before it started; nothing happened. `after`: there is no place for it before (ms). `lane`: nor then, but in the work
   * queue of this name it has its turn. `fallback`: nor that, if another action may do it instead.
   */
  | { kind: 'withdrawn'; after?: number; lane?: string; fallback?: Fallback }

/** An agent's answer to one step request. */
export interface Reply {
  /** The type of the message. */
  type: 'reply'
  /** The number of the step. */
  step: number
  /** Run, undo or verify. */
  operation: Operation
  /** The number of the attempt, from 1. */
  attempt: number
  /** How the attempt ended. */
  outcome: Outcome
  /** When the attempt began (store's clock, ms); null: it never did. */
  startedAt: number | null
  /** When it ended (ms). */
  endedAt: number
  /** The node that ran it. */
  node: string | null
  /** The last one that the attempt gave. */
  checkpoint?: Json
}

/** Of messages that somebody asked for by a call: what comes of it is recorded, also when that is nothing. */
export interface Asked {
  outside?: true
  /** Under which it is asked for: the same again changes nothing. */
  request?: string
  /** Of what is asked for under it: another thing under the same name is refused where it is asked for. */
  digest?: string
  /** Why, and who asks: for the history. */
  reason?: string
  actor?: string
}

/** What reaches a task's inbox. `verify` outcomes: done (with output), not-done, unknown; `undo` outcomes: done. */
export type Message =
  | Reply
  | {
      type: 'heartbeat'
      step: number
      attempt: number
      progress?: Json
      checkpoint?: Json
      trial?: Trial
      /** Says who is connected to its agent's process: it runs on there. Attempts of each operation have numbers of their own. */
      elsewhere?: Operation
    }
  /** A signal for the task. */
  | ({ type: 'event'; name: string; payload: Json } & Asked)
  /** For a step, by the key its token holds. */
  | ({ type: 'signal'; step: number; key: string; name: string; payload: Json } & Asked)
  /** How a child ended; `ordinal`: as one of a batch. `output`: veiled, where there are secrets in it. `refused`: it was never made. */
  | {
      type: 'child'
      step: number
      ordinal?: number
      result: TaskOutcome
      output?: Json
      error?: ErrorRecord
      refused?: RefusedChild
    }
  | ({ type: 'cancel'; force: boolean; compensate: boolean | null } & Asked)
  | ({ type: 'pause' } & Asked)
  | ({ type: 'resume' } & Asked)
  /**
   * The store's answer to a claim: now, or when its turn has come. `by`: those in the way, the nearest of them. `parent`: the
   * task that would wait for itself is not this one, but waits for its end.
   */
  | {
      type: 'lock'
      step: number
      name: string
      outcome: 'granted' | 'held' | 'deadlock'
      by?: string[]
      parent?: string
      fence?: number
    }
  /** A task that this one comes after has stopped; null: it is not known (any more). */
  | { type: 'antecedent'; task: string; result: TaskOutcome | null }
  | ({ type: 'thaw'; startAt?: number } & Asked)
  | ({ type: 'retry'; step?: number; input?: Json } & Asked)
  | ({ type: 'skip'; step: number; output?: Json } & Asked)
  | ({ type: 'compensate' } & Asked)
  /** A parent wants a child under an id that it gave before: see `kernel/child/again.ts`. */
  | {
      type: 'again'
      parent: Parent
      workflow: string
      version: string
      input: Json
      ifExists: IfChildExists
      completeWithin?: number
      /** Texts in the input that are secret in the parent. */
      secretTexts?: string[]
    }
  /** A parent that goes on after a rewind asks a child how it ended. */
  | { type: 'report' }
  /** The code that plans has answered (from within the owner's process only). */
  | { type: 'planned'; plan: Plan }
  | { type: 'unplanned'; error: ErrorRecord }
  /**
   * The task's own, and unread for as long as it has this much mail that it has not heard: what others may send is that
   * much less (store port, `PostTerms.room`).
   */
  | { type: 'kept'; letters: number; bytes: number }
  /** A letter that cannot be read (said by who reads it, never written). `why`: it cannot be decoded. */
  | { type: 'illegible'; why?: Error }
  /** The clock reached an instant this task waits for. */
  | { type: 'tick' }
  /** The owner before us died: the step's attempt ran in its process, if at all, and is lost. */
  | { type: 'takeover'; step: number }
  /** This node stops, and does not wait for the step's attempt any longer (from within the owner's process only). */
  | { type: 'cut'; step: number }

/** That an attempt lives, with what it says of itself. */
export type Heartbeat = Extract<Message, { type: 'heartbeat' }>
