import type { Page } from './batch/batch.ts'
import type { IfChildExists, RefusedChild } from './child/child.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { Plan } from './plan/plan.ts'
import type { TaskOutcome } from './status.ts'
import type { Fallback } from './step/policy.ts'
import type { CacheMark, Loss, Operation, ProbationProgress } from './step/step.ts'
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
      /** The service asked for a pause of this length (Retry-After, ms). */
      retryAfter?: number
      /** The attempt may have taken effect all the same. */
      unknown?: true
      /** The action did its work, but its output cannot be recorded. */
      done?: true
      /** The attempt was ended by what happened to its process. */
      lost?: Loss
      /** The failure comes from the cache. */
      cached?: CacheMark
    }
  /** The step is suspended and occupies no slot meanwhile. Spans in ms from now. */
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
   * Withdrawn before it started; nothing happened. `after`: the attempt cannot start before this span is over (ms). `lane`: it waits in the
   * work queue of this name instead. `fallback`: another action that may do it instead.
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
  /** The last checkpoint that the attempt gave. */
  checkpoint?: Json
}

/** Fields of messages that are requests from outside the engine. Their effect is recorded, even if there is none. */
export interface Asked {
  outside?: true
  /** Id of the request; a second request with the same id changes nothing. */
  request?: string
  /** Digest of the request's content. Another content under the same id is refused to the caller. */
  digest?: string
  /** Why it was requested, and by whom; kept in the history. */
  reason?: string
  actor?: string
}

/** A message in a task's inbox. `verify` outcomes: done (with output), not-done, unknown; `undo` outcomes: done. */
export type Message =
  | Reply
  | {
      type: 'heartbeat'
      step: number
      attempt: number
      progress?: Json
      checkpoint?: Json
      trial?: ProbationProgress
      /** Sent by the server to which the agent process is connected: the attempt still runs there. Attempts are numbered per operation. */
      elsewhere?: Operation
    }
  /** A signal for the task. */
  | ({ type: 'event'; name: string; payload: Json } & Asked)
  /** A signal for a step, addressed by the key in its token. */
  | ({ type: 'signal'; step: number; key: string; name: string; payload: Json } & Asked)
  /**
   * How a child ended. `ordinal`: its number in a batch. `output`: veiled if it contains secrets. `refused`: the child was never created.
   */
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
   * The store's answer to a lock request, at once or when its turn has come. `by`: the tasks that hold the lock or come first, nearest
   * first. `parent`: in a deadlock, the task that waits for the end of this one and would so wait for itself.
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
  /** A predecessor of this task has stopped; null: the store does not know it (any more). */
  | { type: 'antecedent'; task: string; result: TaskOutcome | null }
  | ({ type: 'thaw'; startAt?: number } & Asked)
  | ({ type: 'retry'; step?: number; input?: Json } & Asked)
  | ({ type: 'skip'; step: number; output?: Json } & Asked)
  | ({ type: 'compensate' } & Asked)
  /** A parent requests a child under an id that it used before: see `kernel/child/again.ts`. */
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
  /** The planning code has returned a plan (from within the owner's process only). */
  | { type: 'planned'; plan: Plan }
  | { type: 'unplanned'; error: ErrorRecord }
  /**
   * The task's own message. It stays unread in the inbox and tells how many signals the task holds that no wait has consumed, so that
   * senders have that much less room (store port, `PostTerms.room`).
   */
  | { type: 'kept'; letters: number; bytes: number }
  /** A message that cannot be decoded; its reader puts this in its place, it is never written. `why`: the error of the decoder. */
  | { type: 'illegible'; why?: Error }
  /** The clock reached an instant this task waits for. */
  | { type: 'tick' }
  /** The former owner died: an attempt of the step that ran in its process is lost. */
  | { type: 'takeover'; step: number }
  /** This node stops and does not wait for the step's attempt any longer (from within the owner's process only). */
  | { type: 'cut'; step: number }

/** Reports that an attempt is alive, with its progress and checkpoint. */
export type Heartbeat = Extract<Message, { type: 'heartbeat' }>
