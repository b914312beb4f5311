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
  /** `completeBy`: by the limit that counts from the start, or the earlier complete-by if that is sooner. */
  | { type: 'started'; completeBy?: number }
  /** A message was accepted for the task but its state had no use for it (any more). `reason`: why it had no effect. */
  | ({ type: 'messageIgnored'; message: string; name?: string; step?: number; reason: string } & Remark)
  /** A request with this id was received; if it has an effect, the next event says so. */
  /** `by`: the request was made with a resume token; absent: by a caller who may control the task. */
  | { type: 'requestReceived'; request: string; digest?: string; by?: 'token' }
  | ({ type: 'paused'; reason: PauseCause; error?: ErrorRecord; step?: number } & Remark)
  | ({ type: 'resumed' } & Remark)
  /** The task ends what it does: no new step starts; what runs is aborted and awaited; then `next`. */
  | ({
      type: 'closing'
      cause: 'cancel' | 'deadline' | 'limit' | 'operator'
      compensate: boolean
      error?: ErrorRecord
    } & Remark)
  | { type: 'compensating' }
  /** The parent has taken over the task as it is, for this step. */
  | { type: 'adopted'; parent: Parent }
  /**
   * A stopped task goes on. `step`: all that came after its outcome is void (null: only the stop itself). `children`: those whose ends are
   * void. `attempts` and `endId` are not recorded; the rebuild adds them: how often each step was attempted, so that no old reply matches a
   * new attempt, and the end of all ids, so that a task that starts over reuses none.
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
      /** The task begins like one just submitted: a plan is made anew. */
      fromStart?: true
      /** Ids of requests received before, which stay known. */
      requests?: readonly string[]
      tokenRequests?: readonly string[]
      digests?: Readonly<Record<string, string>>
      /** The task still holds the locks of its submission. */
      locksHeld?: true
      /** The parent needs the task for another step than its submission says, and until then (null: at any time). */
      parent?: Parent
      completeBy?: number | null
      /** How many effects of earlier runs were to be undone and cannot be undone any more. */
      left?: number
      /** How often the task had stopped before: a retry may begin a new run. */
      stops?: number
      /** Texts in its input and signals that were secret in the run before. */
      secretTexts?: string[]
    } & Remark)
  | { type: 'stopped'; result: TaskOutcome; output?: Json; error?: ErrorRecord }
