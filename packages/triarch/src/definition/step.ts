import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { StepStatus } from '../kernel/status.ts'
import type { Duration } from '../value/duration.ts'
import type { LogWriter } from './log.ts'

/**
 * A signal for a step.
 * @example const { name, payload } = step.received ?? { name: 'begin', payload: null }
 */
export interface StepSignal {
  /** `timeout`: nothing else came in time; `cancel`: the task stops; `resume`: by triarch.tasks.resume(); or a name of yours. */
  readonly name: string
  /** The payload of the signal, after JSON; null if there was none. */
  readonly payload: unknown
}

/**
 * How long a step waits, for what, and the data for its next run.
 * @example step.suspend({ timeout: '1d', signals: [{ name: 'remind', in: '1h' }], onCancel: true })
 */
export interface SuspendOptions {
  /** Signals `timeout` to the step after this long; never. */
  timeout?: Duration
  /** Passed to the next call as `step.checkpoint`. JSON only. */
  checkpoint?: unknown
  /** How far the step is. JSON only. */
  progress?: unknown
  /** Signals that the step sends to itself after this long, even if others arrive before; each replaces an earlier one of its name. */
  signals?: readonly { readonly name: string; readonly in: Duration; readonly payload?: unknown }[]
  /** Signals `cancel` to the step if the task stops meanwhile, so that it can cancel what it waits for; false. */
  onCancel?: boolean
}

/**
 * The context of an attempt.
 * @example
 * const charge = payments.action('charge', {
 *   run: (order: { amount: number }, step) => api.charge(order, step.idempotencyKey),
 * })
 */
export interface StepContext {
  /** Fires at complete-by, and when the task is cancelled: pass it on to everything that the attempt awaits. */
  readonly signal: AbortSignal
  /** The instant by which this attempt must be done; a later result is ignored. */
  readonly completeBy: Date
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The same for every attempt of this step; pass it to the service, so that it does the work once. */
  readonly idempotencyKey: string
  /**
   * The highest fencing number of the locks that the task held when this attempt was dispatched, including its `exclusive` keys; undefined:
   * it held none. See `Lock.fence`.
   */
  readonly fence: number | undefined
  /** The id of its task. */
  readonly taskId: string
  /** The number of the step in its task. */
  readonly stepId: number
  /** Metadata of the task's submission and of its ancestors' submissions; empty if there was none. */
  readonly metadata: Readonly<Record<string, string>>
  /** The checkpoint that an earlier attempt saved with its last heartbeat. */
  readonly checkpoint: Json | undefined
  /** The signal with which a suspended step runs again; undefined when it begins (or begins anew because of an operator). */
  readonly received: StepSignal | undefined
  /** Writes lines that are kept with this attempt: `task.logs()` returns them, while it runs and afterwards. */
  readonly log: LogWriter
  /**
   * A token for triarch.tasks.resume(), which signals the step from anywhere until it is done. Signed by the store; whoever has it may use it.
   */
  readonly token: string
  /**
   * Suspends the step without holding any resource: return its result. `run` is called again for each signal, with the same input and key.
   * Throws STEP_MISUSE, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
   * @example if (step.received === undefined) step.suspend({ timeout: '1d', checkpoint: { asked: true } })
   */
  suspend(options?: SuspendOptions): never
  /**
   * Reports that the attempt is alive, its progress, and a checkpoint for the next attempt. JSON only.
   * @example
   * for (const [index, page] of pages.entries()) {
   *   await api.send(page, step.signal)
   *   step.heartbeat({ progress: index / pages.length, checkpoint: index })
   * }
   */
  heartbeat(beat?: { progress?: unknown; checkpoint?: unknown }): void
}

/**
 * Whether an attempt of unknown outcome took effect, according to the service.
 * @example const answer: Verification<{ id: string }> = { done: true, output: { id: 'c-1' } }
 */
export type Verification<O> = { done: true; output: O } | { done: false } | { done: 'unknown' }

/**
 * A step as it is shown.
 * @example const present = ({ status, progress }: PresentedStep) => `${status}, ${progress * 100} %`
 */
export interface PresentedStep {
  /** The input, without values marked as secret. */
  readonly input: Json
  /** The output; undefined while there is none. */
  readonly output: Json | undefined
  /** The error of the step, or of its last attempt; undefined if it did not fail. */
  readonly error: ErrorRecord | undefined
  /** `waiting`: a planned step whose turn has not come. */
  readonly status: StepStatus | 'waiting'
  /** Progress of the step, 0 to 1. */
  readonly progress: number
}
