import type { ErrorRecord } from '../kernel/json.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { TaskInfo } from '../view/status.ts'
import type { StepView } from '../view/steps.ts'
import { OPERATION, type OperationReport } from './operation.ts'

/**
 * An operation on many tasks as it stands: what was ordered, why and by whom, and how far it is. What it reports in the end is there before, as far as
 * it is known.
 * @example const describe = ({ action, done = 0, failed = 0 }: OperationInfo) => `${action}: ${done + failed}`
 */
export interface OperationInfo extends Partial<OperationReport> {
  /** The id of its task. */
  id: string
  /** Where its task is. */
  status: TaskStatus
  /** How its task ended; `pending`: it has not. */
  outcome: TaskOutcome
  /** Why it stopped before its end; absent: it did not. */
  error?: ErrorRecord
  /** When it was ordered. */
  submittedAt: Date
  /** When it changed last. */
  updatedAt: Date
  /** Tasks that were not asked, for it was cancelled; absent where its steps were not read. */
  cancelled?: number
  /** Tasks that have not answered yet; absent where its steps were not read. */
  pending?: number
}

/**
 * The operation that a task is, by what is known of the task; with its steps, how many of its tasks took it so far. Null: the task is no operation.
 * @example
 * const task = triarch.task('operation-1')
 * const operation = operationInfo(await task.status(), await task.steps())
 */
export function operationInfo(task: TaskInfo, steps: readonly StepView[] = []): OperationInfo | null {
  const { id, workflow, status, outcome, error, progress, output, submittedAt, updatedAt } = task
  if (workflow !== OPERATION) return null
  const report = (output ?? progress) as Partial<OperationReport>
  const targets = steps.find(({ children }) => children !== undefined)?.children
  const counts = targets && {
    ...{ done: targets.success, failed: targets.failed, cancelled: targets.cancelled },
    pending: (targets.total ?? targets.started) - targets.success - targets.failed - targets.cancelled,
  }
  return { id, status, outcome, ...report, ...(error && { error }), submittedAt, updatedAt, ...counts }
}
