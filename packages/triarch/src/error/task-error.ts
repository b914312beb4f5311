import type { ErrorRecord } from '../kernel/json.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { RescueStrategy } from '../kernel/step/policy.ts'
import type { ErrorCode } from './catalogue.ts'
import { TriarchError, type TriarchErrorOptions } from './error.ts'
import { fromRecord } from './record.ts'

function name(prototype: Error, value: string): void {
  Object.defineProperty(prototype, 'name', { value, configurable: true, writable: true })
}

function because(record: ErrorRecord | undefined): string {
  return record === undefined ? '' : `: ${record.message}`
}

function withCause(details: NonNullable<TriarchErrorOptions['details']>, record?: ErrorRecord): TriarchErrorOptions {
  return record === undefined ? { details } : { details, cause: fromRecord(record) }
}

/**
 * A task that did not succeed, as its client sees it. The cause is the recorded error.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (error instanceof TaskError) console.log(error.taskId, error.outcome, error.code)
 */
export class TaskError extends TriarchError {
  /** The id of the task. */
  readonly taskId: string
  /** How the task ended. */
  readonly outcome: TaskOutcome

  constructor(code: ErrorCode, message: string, task: { taskId: string; outcome: TaskOutcome; error?: ErrorRecord }) {
    super(code, message, withCause({ taskId: task.taskId, result: task.outcome }, task.error))
    this.taskId = task.taskId
    this.outcome = task.outcome
  }
}

/**
 * TASK_FAILED: the task ended in error.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (error instanceof TaskFailedError) console.log(`it failed: ${error.message}`, error.cause)
 */
export class TaskFailedError extends TaskError {
  static {
    name(TaskFailedError.prototype, 'TaskFailedError')
  }

  constructor(taskId: string, error?: ErrorRecord, outcome: TaskOutcome = 'error') {
    super('TASK_FAILED', `Task "${taskId}" failed${because(error)}`, { taskId, outcome, ...(error && { error }) })
  }
}

/**
 * TASK_CANCELLED: the task was cancelled.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (error instanceof TaskCancelledError) console.log('somebody cancelled it')
 */
export class TaskCancelledError extends TaskError {
  static {
    name(TaskCancelledError.prototype, 'TaskCancelledError')
  }

  constructor(taskId: string, error?: ErrorRecord) {
    const task = { taskId, outcome: 'cancelled' as const, ...(error && { error }) }
    super('TASK_CANCELLED', `Task "${taskId}" was cancelled${because(error)}`, task)
  }
}

/**
 * TASK_COMPENSATED: the task could not finish, and everything it had done is undone.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (error instanceof TaskCompensatedError) console.log('it could not finish, and was undone')
 */
export class TaskCompensatedError extends TaskError {
  static {
    name(TaskCompensatedError.prototype, 'TaskCompensatedError')
  }

  constructor(taskId: string, error?: ErrorRecord) {
    const task = { taskId, outcome: 'compensated' as const, ...(error && { error }) }
    super('TASK_COMPENSATED', `Task "${taskId}" could not finish and was undone${because(error)}`, task)
  }
}

/**
 * TASK_EXPIRED: the task's start-before passed before it started.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (error instanceof TaskExpiredError) console.log('nobody could start it in time')
 */
export class TaskExpiredError extends TaskError {
  static {
    name(TaskExpiredError.prototype, 'TaskExpiredError')
  }

  constructor(taskId: string, error?: ErrorRecord) {
    const task = { taskId, outcome: 'error' as const, ...(error && { error }) }
    super('TASK_EXPIRED', `Task "${taskId}" expired before it started`, task)
  }
}

/**
 * The error that reports to a client how a stopped task ended; only for outcomes other than success, warning and pending.
 * @example const error = taskError('o-1', 'cancelled', { name: 'Error', message: 'too late' })
 */
export function taskError(taskId: string, outcome: TaskOutcome, error?: ErrorRecord): TaskError {
  if (outcome === 'cancelled') return new TaskCancelledError(taskId, error)
  if (outcome === 'compensated') return new TaskCompensatedError(taskId, error)
  return error?.code === 'TASK_EXPIRED' ? new TaskExpiredError(taskId, error) : new TaskFailedError(taskId, error)
}

/**
 * STEP_FAILED: inside a workflow, a step used up its attempts. The cause is its last attempt's error.
 * @example
 * try {
 *   await task.run(charge, { id: 'o-1', amount: 10 })
 * } catch (error) {
 *   if (!(error instanceof StepFailedError)) throw error
 *   await task.run(ship, { id: 'o-1', charge: 'on invoice' })
 * }
 */
export class StepFailedError extends TriarchError {
  static {
    name(StepFailedError.prototype, 'StepFailedError')
  }

  /** The number of the step in its task. */
  readonly stepId: number
  /** The action's key, or a local step's name. */
  readonly action: string
  /** Number of attempts that were made. */
  readonly attempts: number
  /** What happens to the task if the workflow does not catch this. */
  readonly rescue: RescueStrategy

  constructor(step: { id: number; action: string; attempts: number; rescue: RescueStrategy; error?: ErrorRecord }) {
    const { id, action, attempts, rescue, error } = step
    const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    const message = `Step ${id} (${action}) failed after ${tries}${because(error)}`
    super('STEP_FAILED', message, withCause({ stepId: id, action, attempts, rescue }, error))
    this.stepId = id
    this.action = action
    this.attempts = attempts
    this.rescue = rescue
  }
}

/**
 * SIGNAL_TIMEOUT: inside a workflow, an awaited signal did not arrive in time.
 * @example
 * const approved = await task.waitForSignal('approved', { timeout: '2d' }).catch((error: unknown) => {
 *   if (error instanceof SignalTimeoutError) return null
 *   throw error
 * })
 */
export class SignalTimeoutError extends TriarchError {
  static {
    name(SignalTimeoutError.prototype, 'SignalTimeoutError')
  }

  /** The name of the signal. */
  readonly signal: string

  constructor(signal: string) {
    super('SIGNAL_TIMEOUT', `Signal "${signal}" did not arrive in time`, { details: { signal } })
    this.signal = signal
  }
}

/**
 * CHILD_FAILED: inside a workflow, a child task did not succeed.
 * @example
 * try {
 *   await task.call(fulfil, { id: 'o-1', amount: 10 })
 * } catch (error) {
 *   if (error instanceof ChildFailedError) console.log(error.childId, error.outcome)
 *   throw error
 * }
 */
export class ChildFailedError extends TriarchError {
  static {
    name(ChildFailedError.prototype, 'ChildFailedError')
  }

  /** The id of the child task. */
  readonly childId: string
  /** How the child ended. */
  readonly outcome: TaskOutcome

  constructor(childId: string, outcome: TaskOutcome, error?: ErrorRecord) {
    const message = `Child task "${childId}" ended in "${outcome}"${because(error)}`
    super('CHILD_FAILED', message, withCause({ childId, outcome }, error))
    this.childId = childId
    this.outcome = outcome
  }
}
