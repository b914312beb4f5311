import type { ErrorRecord } from '../kernel/json.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { TaskInfo } from '../view/status.ts'
import type { StepView } from '../view/steps.ts'
import { OPERATION, type OperationReport } from './operation.ts'

/**
 * The state of an operation on many tasks: what was ordered, why and by whom, and its progress. The fields of its report are present as
 * far as they are known.
 * @example const describe = ({ action, done = 0, failed = 0 }: OperationInfo) => `${action}: ${done + failed}`
 */
export interface OperationInfo extends Partial<OperationReport> {
  /** The id of its task. */
  id: string
  /** The status of its task. */
  status: TaskStatus
  /** How its task ended; `pending`: it has not ended. */
  outcome: TaskOutcome
  /** Why it stopped before it was complete; absent: it did not. */
  error?: ErrorRecord
  /** When it was ordered. */
  submittedAt: Date
  /** When it changed last. */
  updatedAt: Date
  /** Tasks not asked because the operation was cancelled; absent if its steps were not read. */
  cancelled?: number
  /** Tasks that have not answered yet; absent if its steps were not read. */
  pending?: number
}

/**
 * The operation behind a task, from the task's info; with its steps, also how many tasks have accepted it so far. Null: the task is not
 * an operation.
 * @example
 * const task = triarch.tasks.get('operation-1')
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
