import type { ErrorRecord, Json } from '../json.ts'
import type { StepStatus } from '../status.ts'
import type { PauseCause } from '../task/pause.ts'
import type { StepPolicy } from './policy.ts'

/** What an attempt does for its step: the action itself, the question whether it took effect, or its compensation. */
export type Operation = 'run' | 'verify' | 'undo'

/** How far an attempt under probation came (`loss.ts`). */
export type ProbationProgress = 'begun' | 'survived'

/**
 * How an attempt was lost: `death`: its process died; `silence`: its process did not report in time, as if it had died; `alive`: the
 * process lives, but did not begin in time or was taken for dead; `stop`: the process was stopped in good order.
 */
export type Loss = 'death' | 'silence' | 'alive' | 'stop'

/**
 * Marks an output that came from a cache.
 * @example const mark: CacheMark = { at: Date.now(), from: 'shared' }
 */
export interface CacheMark {
  /** When the output was stored (ms since the epoch). */
  at: number
  /** From the memory of the process, or from the cache that all nodes share. */
  from: 'memory' | 'shared'
  /** The output was past its time to live, and a new one was being requested. */
  stale?: true
}

/** When, where and how long an attempt ran. `startedAt` is null if no start was reported. Instants are ms since the epoch. */
export interface AttemptTrace {
  attempt: number
  startedAt: number | null
  endedAt: number
  node: string | null
  /** The output came from a cache; no attempt was made. */
  cached?: CacheMark
}

/** One planned or requested execution of an action. */
export interface Step {
  id: number
  /** Null: a local step, or (with `undoOnly`) a registered compensation. */
  action: string | null
  /** The actions that the step had before its fallbacks, first one first. */
  fallbackOf: readonly string[]
  name: string
  undoOnly: boolean
  input: Json
  policy: StepPolicy
  generation: number
  status: StepStatus
  /** The current operation, and the number of its current attempt. */
  operation: Operation
  attempt: number
  attempts: Record<Operation, number>
  /** Failures counted against each operation's retry budget. */
  failures: Record<Operation, number>
  /** Attempts lost with their process since the last one that ended otherwise. */
  losses: number
  /** Weighted losses since a process last survived an attempt under probation. */
  doubts: number
  /** Losses soon after an attempt under probation began: 1 for each death, half for each silence. */
  strikes: number
  /** Until then the step may only run under probation. */
  patientUntil: number
  /** The current attempt has begun under probation, and its process has survived it for a while. */
  begun: boolean
  lived: boolean
  /** The current attempt runs in a process without a store: since when, and for how long without a report (ms); null: it does not. */
  given: { at: number; lease: number } | null
  /** Until then a reply from elsewhere is awaited; null: the task's owner has the attempt. */
  awaited: number | null
  /** The current attempt may start from this instant on. */
  due: number
  /** The last run attempt may or may not have taken effect. */
  unknown: boolean
  /** Until then an attempt of unknown outcome may still take effect: the attempt's complete-by. */
  doubtUntil: number
  /** The step waits for an operator, for this reason. */
  held: PauseCause | null
  /** An operator released the step while others of its task are still held, so it goes on although the task is paused. */
  released: boolean
  requestedAt: number
  completedAt: number
  expiresAt: number | null
  /**
   * Until when the agent first put off the current attempt; null: it never did. An attempt that was put off and is in no queue has not
   * begun.
   */
  putOff: number | null
  output: Json | undefined
  error: ErrorRecord | undefined
  checkpoint: Json | undefined
  progress: Json | undefined
  /** The signal that the current attempt is given; null: it begins without one. */
  received: RecordedStepSignal | null
  /** The step is to be notified if its task stops while it is suspended. */
  notifyOnCancel: boolean
  /** Volatile: the current attempt was handed to an agent by this process (or lives in a work queue). */
  dispatched: boolean
  /** Volatile: the attempt is put off until this instant, because no agent has a slot for it. */
  deferred: number
  /** Volatile: the work queue in which the current attempt is to wait; null: its agent's own, if it must wait at all. */
  lane: string | null
  /** Volatile: when, and for which node, the agent that last withdrew the current attempt had begun it; null: none has. */
  returned: { startedAt: number | null; node: string | null } | null
  /** Volatile: the abort of the current attempt was requested. */
  aborted: boolean
}

/** The signal with which a suspended step runs again. */
export interface RecordedStepSignal {
  /** `timeout` and `cancel` come from the engine, `resume` from triarch.tasks.resume() unless it says otherwise. */
  name: string
  payload: Json
}
