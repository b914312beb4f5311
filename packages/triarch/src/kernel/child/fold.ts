import { deliver, isEnding } from '../delivery.ts'
import type { Folds } from '../fold.ts'
import { decided } from '../state.ts'
import { succeeded } from '../status.ts'
import type { ChildDecision, ChildFact } from './event.ts'

/** Of a child of its own, not one of a batch. */
export const childFolds: Folds<ChildDecision | ChildFact> = {
  childStarted(state, { id, task, workflow, mode, onCancel, undo }, _at, deliveries) {
    decided(state, id)
    state.children.set(id, {
      ...{ id, task, workflow, mode, onCancel, undo },
      status: 'running',
      succeeded: false,
      requestedAt: state.ordinal,
      completedAt: 0,
    })
    if (mode === 'start') deliver(state, deliveries, { id, ok: true, value: { id: task } })
  },
  childStopped(state, { id, result, output, error }, _at, deliveries) {
    const child = state.children.get(id)
    if (!child) return
    const { mode, task } = child
    child.status = 'stopped'
    child.completedAt = state.ordinal
    child.succeeded = succeeded(result)
    // One that ends because the task ends is not why it ended.
    if (!child.succeeded && mode === 'call' && !isEnding(state)) state.lastFailed = id
    if (mode === 'start') return
    if (child.succeeded) deliver(state, deliveries, { id, ok: true, value: output ?? null })
    else deliver(state, deliveries, { id, ok: false, reason: 'child', result, error, task })
  },
}
