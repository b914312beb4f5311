import type { ErrorRecord, Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { TaskOutcome } from '../status.ts'
import type { RescueStrategy } from '../step/policy.ts'
import type { Parent, Submission } from './order.ts'
import type { PauseCause } from './pause.ts'

export type TaskDecision =
  | { type: 'patched'; patch: string }
  | { type: 'progressed'; progress: Json }
  | { type: 'returned'; output: Json }
  | { type: 'threw'; error: ErrorRecord; rescue: RescueStrategy }
  | { type: 'continueAsNewRequested'; input: Json }

export type TaskFact =
  | ({ type: 'submitted' } & Submission)
  /** `completeBy`: by the limit that counts from here, or the one before if that is sooner. */
  | { type: 'started'; completeBy?: number }
  /** What was accepted for the task and met a state that has no use for it (any more): nothing came of it, and why. */
  | ({ type: 'messageIgnored'; message: string; name?: string; step?: number; reason: string } & Remark)
  /** What was asked for under this name was taken, whatever came of it: the next event may say. */
  /** `by`: of somebody who has a resume token; else of whoever may control the task. */
  | { type: 'requestReceived'; request: string; digest?: string; by?: 'token' }
  | ({ type: 'paused'; reason: PauseCause; error?: ErrorRecord; step?: number } & Remark)
  | ({ type: 'resumed' } & Remark)
  /** The task stops what it does: no new step starts; what runs is aborted and awaited; then `next`. */
  | ({
      type: 'closing'
      cause: 'cancel' | 'deadline' | 'limit' | 'operator'
      compensate: boolean
      error?: ErrorRecord
    } & Remark)
  | { type: 'compensating' }
  /** Its parent wants it for this step, as it is. */
  | { type: 'adopted'; parent: Parent }
  /**
   * A stopped task goes on: what came after the outcome of `step` is void (null: only the stop itself), and how these `children` ended. `attempts` and
   * `endId` are not recorded: the rebuild adds how often each step was attempted, so that no old reply can match a new
   * attempt, and the end of all ids, so that a task that starts over uses none again.
   */
  | ({
      type: 'reset'
      step: number | null
      input?: Json
      children?: number[]
      attempts?: Record<number, number>
      endId?: number
    } & Remark)
  | ({
      type: 'continuedAsNew'
      input: Json
      nextId: number
      pendingSignals: { name: string; payload: Json }[]
      /** It begins like a task just submitted: a plan is made anew. */
      fromStart?: true
      /** Taken before, and still known. */
      requests?: readonly string[]
      tokenRequests?: readonly string[]
      digests?: Readonly<Record<string, string>>
      /** The locks of its submission are still its own. */
      locksHeld?: true
      /** Its parent wants it for another step than its submission says, and until then (null: at any time). */
      parent?: Parent
      completeBy?: number | null
      /** Of what runs before it did and were to undo, how much nobody can undo any more. */
      left?: number
      /** How often the task had stopped before: one that is tried again may begin a run. */
      stops?: number
      /** Texts in what it goes on with that were secret in the run before. */
      secretTexts?: string[]
    } & Remark)
  | { type: 'stopped'; result: TaskOutcome; output?: Json; error?: ErrorRecord }
