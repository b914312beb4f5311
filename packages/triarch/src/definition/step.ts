import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { StepStatus } from '../kernel/status.ts'
import type { Duration } from '../value/duration.ts'
import type { LogWriter } from './log.ts'

/**
 * A signal for a step.
 * @example const { name, payload } = step.received ?? { name: 'begin', payload: null }
 */
export interface StepSignal {
  /** `timeout`: nothing else came in time; `cancel`: the task stops; `resume`: by triarch.resume(); or a name of yours. */
  readonly name: string
  /** What was sent with it, as JSON has it; null if nothing was. */
  readonly payload: unknown
}

/**
 * How long a step waits, for what, and what it knows when it runs again.
 * @example step.suspend({ timeout: '1d', signals: [{ name: 'remind', in: '1h' }], onCancel: true })
 */
export interface SuspendOptions {
  /** Told `timeout` after this long; never. */
  timeout?: Duration
  /** What the next call finds in `step.checkpoint`. JSON only. */
  checkpoint?: unknown
  /** How far it is. JSON only. */
  progress?: unknown
  /** Signals for itself, this long from now, even if others come before; each replaces an earlier one of its name. */
  signals?: readonly { readonly name: string; readonly in: Duration; readonly payload?: unknown }[]
  /** Told `cancel` when the task stops meanwhile, to call off what it waits for; false. */
  onCancel?: boolean
}

/**
 * What an attempt knows and may do.
 * @example
 * const charge = payments.action('charge', {
 *   run: (order: { amount: number }, step) => api.charge(order, step.idempotencyKey),
 * })
 */
export interface StepContext {
  /** Fires at complete-by, and when the task is cancelled: pass it on to everything that waits. */
  readonly signal: AbortSignal
  /** The instant by which this attempt must be done; a later result counts for nothing. */
  readonly completeBy: Date
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The same for every attempt of this step: give it to the service, so that it does the work once. */
  readonly idempotencyKey: string
  /**
   * The highest fencing number of the locks its task held when this attempt was sent out, the keys it runs under among them;
   * undefined: it held none. See `Lock.fence`.
   */
  readonly fence: number | undefined
  /** The id of its task. */
  readonly taskId: string
  /** The number of the step in its task. */
  readonly stepId: number
  /** Of the task's submission, and of those of the tasks above it; empty where there was none. */
  readonly metadata: Readonly<Record<string, string>>
  /** What an earlier attempt saved with its last heartbeat. */
  readonly checkpoint: Json | undefined
  /** What a suspended step runs again with; undefined when it begins (or begins anew, by an operator's word). */
  readonly received: StepSignal | undefined
  /** Writes lines that are kept with this attempt: `task.logs()` has them, while it runs and afterwards. */
  readonly log: LogWriter
  /** For triarch.resume(), from anywhere and at any time while the step is not done: gives it a signal. Signed by the store: whoever has it may do that. */
  readonly token: string
  /**
   * Waits without holding anything: return what it gives. `run` is called again for each signal, with all else as it was.
   * Throws STEP_MISUSE, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
   * @example if (step.received === undefined) step.suspend({ timeout: '1d', checkpoint: { asked: true } })
   */
  suspend(options?: SuspendOptions): never
  /**
   * Says that the attempt is alive, how far it is, and what the next attempt should know. JSON only.
   * @example
   * for (const [index, page] of pages.entries()) {
   *   await api.send(page, step.signal)
   *   step.heartbeat({ progress: index / pages.length, checkpoint: index })
   * }
   */
  heartbeat(beat?: { progress?: unknown; checkpoint?: unknown }): void
}

/**
 * Whether an attempt of unknown outcome took effect, as the service says.
 * @example const answer: Verification<{ id: string }> = { done: true, output: { id: 'c-1' } }
 */
export type Verification<O> = { done: true; output: O } | { done: false } | { done: 'unknown' }

/**
 * A step as it is shown.
 * @example const present = ({ status, progress }: PresentedStep) => `${status}, ${progress * 100} %`
 */
export interface PresentedStep {
  /** Without what is marked as secret. */
  readonly input: Json
  /** What it gave; undefined while there is none. */
  readonly output: Json | undefined
  /** How it, or its last attempt, failed; undefined if it did not. */
  readonly error: ErrorRecord | undefined
  /** `waiting`: a planned step whose turn has not come. */
  readonly status: StepStatus | 'waiting'
  /** 0 to 1. */
  readonly progress: number
}
