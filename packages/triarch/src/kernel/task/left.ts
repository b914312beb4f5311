import type { ErrorRecord } from '../json.ts'
import type { TaskState } from '../state.ts'
import type { Step } from '../step/step.ts'

/** How many effects of the task are not undone, and will not be if it stops in its present state. */
export function leftOf({ left, steps, compensable, children }: TaskState): number {
  const open = [...steps.values()].filter(mayHaveDone)
  const started = [...children.values()].filter(({ status, succeeded, undo, onCancel }) =>
    status === 'stopped' ? succeeded && undo : status === 'compensating' || onCancel !== 'detach',
  )
  return left + compensable.size + open.length + started.length
}

/** The error details that report this number. A child that reports one makes its parent incomplete too. */
export function incompleteDetails(left: number): Pick<ErrorRecord, 'details'> {
  return left > 0 ? { details: { left } } : {}
}

/** Whether a child's error reports effects that are left; they count as 1 of its parent's. */
export function leftBy(error: ErrorRecord | undefined): 0 | 1 {
  if (error?.code !== 'UNDO_INCOMPLETE' && error?.code !== 'TASK_CANCELLED') return 0
  const { details } = error
  const left = details !== null && typeof details === 'object' && 'left' in details ? details.left : 0
  return typeof left === 'number' && left > 0 ? 1 : 0
}

function mayHaveDone({ status, policy, dispatched, unknown }: Step): boolean {
  return status === 'compensating' || (policy.undo && (dispatched || unknown || status === 'suspended'))
}
