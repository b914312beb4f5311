import type { Folds } from '../fold.ts'
import type { TaskState } from '../state.ts'
import { succeeded, type TaskOutcome } from '../status.ts'
import type { Step } from '../step/step.ts'
import type { Batch, BatchMove, PageMark } from './batch.ts'
import type { BatchFact } from './event.ts'

export const batchFolds: Folds<BatchFact> = {
  batchAdvanced(state, event) {
    batchChanged(state, event)
    state.left += event.left ?? 0
  },
  batchStopping: batchChanged,
}

/** Counts children that ended, then those that were started: new ones or (`again`) ones that had failed before. */
function moved(batch: Batch, { ended = [], foreign = [], started = 0, again = 0, error }: BatchMove): void {
  for (const ordinal of foreign) {
    if (!batch.outstanding.delete(ordinal)) continue
    batch.foreign.add(ordinal)
    batch.failed++
  }
  for (const [from, to, result] of ended) {
    for (let ordinal = from; ordinal <= to; ordinal++)
      if (batch.outstanding.delete(ordinal)) end(batch, ordinal, result)
  }
  batch.cause ??= error
  if (batch.undoFrom !== null) {
    for (let ordinal = batch.undoFrom - started; ordinal < batch.undoFrom; ordinal++)
      if (!batch.foreign.has(ordinal)) batch.outstanding.add(ordinal)
    batch.undoFrom -= started
    return
  }
  for (const ordinal of batch.again.splice(0, again)) batch.outstanding.add(ordinal)
  for (let n = 0; n < started; n++) batch.outstanding.add(batch.next++)
}

function end(batch: Batch, ordinal: number, result: TaskOutcome): void {
  if (batch.undoFrom !== null) return
  if (succeeded(result)) {
    batch.success++
    return
  }
  batch.unhappy.add(ordinal)
  if (batch.stopping && result === 'cancelled') batch.cancelled++
  else batch.failed++
}

export function batchChanged(state: Pick<TaskState, 'batches' | 'steps'>, event: BatchFact): void {
  const [batch, step] = [state.batches.get(event.id), state.steps.get(event.id)]
  if (!batch) return
  if (event.type === 'batchAdvanced') return moved(batch, event)
  batch.stopping = true
  batch.error ??= event.error
  batch.again = []
  batch.buffer = []
  if (!step) return
  step.expiresAt = null
  if (step.status === 'running') step.status = 'suspended'
}

export function startUndo(state: TaskState, id: number): void {
  const batch = state.batches.get(id)
  if (!batch) return
  batch.undoFrom = batch.next
  batch.outstanding.clear()
}

/** A batch that ended without success may still have children to undo. */
export function batchEnded(state: TaskState, step: Step): void {
  const batch = state.batches.get(step.id)
  if (!batch) return
  step.completedAt = state.ordinal
  if (step.policy.undo && batch.success > 0) state.compensable.set(step.id, step)
  else state.batches.delete(step.id)
}

/** Takes the size of a batch from the last page of its source. */
export function batchPaged(
  state: Pick<TaskState, 'batches'>,
  { id, total, page }: { id: number; total?: number; page?: PageMark },
): void {
  const batch = state.batches.get(id)
  if (!batch) return
  batch.total = total ?? null
  batch.page = page ?? null
}
