import { deliver, isEnding } from '../delivery.ts'
import type { Folds } from '../fold.ts'
import { decided, type TaskState } from '../state.ts'
import { succeeded } from '../status.ts'
import { leftBy } from '../task/left.ts'
import type { Child } from './child.ts'
import type { ChildDecision, ChildFact } from './event.ts'

/** Folds of children that are not part of a batch. */
export const childFolds: Folds<ChildDecision | ChildFact> = {
  childStarted(state, { id, task, workflow, mode, onCancel, undo, asked }, _at, deliveries) {
    decided(state, id)
    if (asked) replaceFormer(state, { id, task })
    state.children.set(id, {
      ...{ id, task, workflow, mode, onCancel, undo },
      status: 'running',
      succeeded: false,
      requestedAt: state.ordinal,
      completedAt: 0,
      ...(asked && { asked }),
    })
    if (mode === 'start') deliver(state, deliveries, { id, ok: true, value: { id: task } })
  },
  childCarried(state, { id, task, workflow, mode, onCancel, undo, ended, requestedAt, completedAt }) {
    state.children.set(id, {
      ...{ id, task, workflow, mode, onCancel, undo, requestedAt, completedAt: ended ? completedAt : 0 },
      status: ended ? 'stopped' : 'running',
      succeeded: ended,
    })
  },
  childStopped(state, { id, result, output, error }, _at, deliveries) {
    const child = state.children.get(id)
    if (!child) return
    const { mode, task } = child
    child.status = 'stopped'
    child.completedAt = state.ordinal
    child.succeeded = succeeded(result)
    state.left += leftBy(error)
    // A child that ends because its parent ends is not the cause of the parent's failure.
    if (!child.succeeded && mode === 'call' && !isEnding(state)) state.lastFailed = id
    if (mode === 'start') return
    if (child.succeeded) deliver(state, deliveries, { id, ok: true, value: output ?? null })
    else deliver(state, deliveries, { id, ok: false, reason: 'child', result, error, task })
  },
}

/** Removes the earlier step of the same child, so that the child is undone and cancelled once. */
function replaceFormer({ children }: TaskState, { id, task }: Pick<Child, 'id' | 'task'>): void {
  for (const other of [...children.values()]) if (other.task === task && other.id !== id) children.delete(other.id)
}
