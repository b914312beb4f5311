import { newBatch } from '../batch/batch.ts'
import { batchEnded, startUndo } from '../batch/fold.ts'
import { deliver } from '../delivery.ts'
import type { Folds } from '../fold.ts'
import { requested, settled, skipped } from '../plan/plan.ts'
import { undoDone, undoRequested } from '../plan/undo.ts'
import { keepReceived } from '../suspension/suspend.ts'
import { expectFromElsewhere, moveStep, newStep, next, retry } from './change.ts'
import type { StepDecision, StepFact } from './event.ts'
import { fallBack } from './fallback.ts'
import { bear, clearProbation, forgive } from './loss.ts'

export const stepFolds: Folds<StepDecision | StepFact> = {
  stepRequested(state, event, at) {
    const step = newStep(state, event, at)
    if (step.policy.expiresIn !== null) step.expiresAt = at + step.policy.expiresIn
    step.status = 'running'
    if (state.plan) requested(state.plan, event.id)
  },
  undoRegistered(state, { id, name, policy: own }, at) {
    const policy = { undo: true, ...own }
    const step = newStep(state, { id, action: null, name, input: null, policy }, at)
    step.undoOnly = true
    step.status = 'success'
    step.completedAt = state.ordinal
    state.steps.delete(id)
    state.compensable.set(id, step)
  },
  stepCarried(state, { id, action, name, input, output, policy, batch, ...event }, at) {
    const step = newStep(state, { id, action, name, input, policy }, at)
    const { generation, requestedAt, completedAt, fallbackOf = step.fallbackOf } = event
    Object.assign(step, { status: 'success', output, generation, requestedAt, completedAt, fallbackOf })
    state.steps.delete(id)
    state.compensable.set(id, step)
    if (batch) state.batches.set(id, { ...newBatch(batch.generation), ...batch, foreign: new Set(batch.foreign) })
  },
  stepCompleted(state, { id, output }, _at, deliveries) {
    const step = state.steps.get(id)
    if (!step) return
    moveStep(step, 'success')
    state.suspensions.delete(id)
    step.completedAt = state.ordinal
    step.held = null
    step.unknown = false
    step.output = output
    state.steps.delete(id)
    if (step.policy.undo) state.compensable.set(id, step)
    deliver(state, deliveries, { id, ok: true, value: output })
  },
  attemptFailed(state, event) {
    const step = state.steps.get(event.id)
    if (!step) return
    if (event.lost && event.lost !== 'stop') bear(step, event, event.lost)
    if (!event.lost) {
      state.failures++
      step.failures[event.operation]++
      forgive(step)
    }
    if (step.status === 'suspended' && event.next) moveStep(step, 'running')
    step.error = event.error
    if (event.operation === 'run') {
      // A later definite failure does not clear the doubt about an earlier attempt: only a verification or a success does.
      if (event.unknown) step.unknown = true
      if (event.unknown) step.doubtUntil = (event.startedAt ?? event.endedAt) + step.policy.completeWithin
    }
    next(step, event.next)
  },
  verified(state, event) {
    const step = state.steps.get(event.id)
    if (!step) return
    step.unknown = event.answer === 'unknown'
    if (event.next?.operation === 'verify') step.failures.verify++
    next(step, event.next)
  },
  verifyRequested(state, { id, at }) {
    const step = state.steps.get(id)
    if (!step) return
    step.held = null
    if (step.status === 'suspended') moveStep(step, 'running')
    next(step, { operation: 'verify', at })
  },
  fallbackRequested(state, { id, at, ...fallback }) {
    const step = state.steps.get(id)
    if (!step) return
    fallBack(state, step, fallback)
    next(step, { operation: 'run', at })
  },
  heartbeat(state, { id, progress, checkpoint, trial, given, awaited, putOff }, at) {
    state.asides++
    const step = state.steps.get(id)
    if (!step) return
    if (progress !== undefined) step.progress = progress
    if (checkpoint !== undefined) step.checkpoint = checkpoint
    if (given !== undefined) step.given = { at, lease: given }
    if (awaited !== undefined) expectFromElsewhere(step, awaited)
    if (putOff !== undefined) Object.assign(step, { putOff, begun: false, lived: false })
    if (trial === 'begun') step.begun = true
    if (trial !== 'survived') return
    step.lived = true
    clearProbation(step)
  },
  stepFailed(state, { id, error }, _at, deliveries) {
    const step = state.steps.get(id)
    if (!step) return
    moveStep(step, 'error')
    state.suspensions.delete(id)
    step.error = error
    state.lastFailed = id
    state.failedAt = state.ordinal
    state.steps.delete(id)
    batchEnded(state, step)
    deliver(state, deliveries, { id, ok: false, reason: 'step', error, step })
  },
  stepSkipped(state, { id, output, cascade }, _at, deliveries) {
    const step = state.steps.get(id)
    if (!step) return
    moveStep(step, 'skipped')
    state.suspensions.delete(id)
    state.skipped = true
    state.steps.delete(id)
    batchEnded(state, step)
    if (!state.plan) deliver(state, deliveries, { id, ok: true, value: output ?? null })
    else if (output === undefined) skipped(state.plan, id, cascade ?? [])
    else settled(state.plan, id, output, 'skipped')
  },
  plannedStepFailed(state, { id, error }) {
    const step = state.steps.get(id)
    if (!step) return
    moveStep(step, 'error')
    state.suspensions.delete(id)
    step.held = 'step'
    step.released = false
    step.error = error
    state.lastFailed = id
    state.plan?.failedSteps.add(id)
  },
  stepCancelled(state, { id }) {
    const step = state.steps.get(id)
    state.suspensions.delete(id)
    state.steps.delete(id)
    if (!step) return
    moveStep(step, 'cancelled')
    batchEnded(state, step)
  },
  stepRetried(state, { id, input, at, keepSignal }) {
    const step = state.steps.get(id)
    if (step && keepSignal) keepReceived(state, step)
    if (step) {
      retry(state, step, at, input)
      step.released = state.pause !== null && !state.pause.broken
    }
    state.plan?.failedSteps.delete(id)
    if (input !== undefined) state.plan?.edited.set(id, input)
  },
  undoRequested(state, { id, at }) {
    const child = state.children.get(id)
    if (child) child.status = 'compensating'
    if (state.plan) undoRequested(state.plan, id)
    const step = state.compensable.get(id)
    if (!step) return
    state.compensable.delete(id)
    state.steps.set(id, step)
    moveStep(step, 'compensating')
    startUndo(state, id)
    forgive(step)
    next(step, { operation: 'undo', at })
  },
  undone(state, { id, incomplete }) {
    const step = state.steps.get(id)
    if (step) moveStep(step, 'compensated')
    state.undone++
    if (incomplete) state.left++
    if (state.plan) undoDone(state.plan, id)
    state.steps.delete(id)
    state.children.delete(id)
  },
}
