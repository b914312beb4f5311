import { batchPaged } from '../batch/fold.ts'
import type { Folds } from '../fold.ts'
import type { SuspensionFact } from './event.ts'
import { signal, suspend } from './suspend.ts'
import { isNotified } from './suspension.ts'

export const suspensionFolds: Folds<SuspensionFact> = {
  stepSuspended(state, event, at) {
    const step = state.steps.get(event.id)
    if (!step) return
    if (event.checkpoint !== undefined) step.checkpoint = event.checkpoint
    if (event.progress !== undefined) step.progress = event.progress
    // A step is notified of its task's stop once; a step that only now suspends is still to be notified.
    step.notifyOnCancel = event.notifyOnCancel === true && !isNotified(step)
    batchPaged(state, event)
    suspend(state, step, event.until ?? null, event.selfSignals ?? [], at)
  },
  stepSignalled(state, event, at) {
    const step = state.steps.get(event.id)
    if (step) signal(state, step, { name: event.name, payload: event.payload }, event, at)
  },
}
