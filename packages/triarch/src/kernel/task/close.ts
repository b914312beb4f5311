import { isDrained, stopBatch } from '../batch/batching.ts'
import { giveBack } from '../lock/request.ts'
import { closeCompensation, startCompensation } from '../step/compensation.ts'
import type { Step } from '../step/step.ts'
import { isNotified } from '../suspension/suspension.ts'
import { emit, isOutstanding, type Turn } from '../turn.ts'
import { isNormal, undoesCalledOff } from './pause.ts'
import { continueAsNew } from './renew.ts'
import { stop } from './stop.ts'

/**
 * Brings a closing task forward: nothing new starts, what runs is aborted and awaited, and when all is settled the
 * task continues as new, compensates, or stops. Called at the end of every turn.
 */
export function close(turn: Turn): void {
  const { state } = turn
  const reason = state.closing
  if (!reason || state.status === 'stopped' || state.status === 'paused') return
  if (state.status === 'compensating') return closeCompensation(turn, reason)
  let waiting = false
  for (const step of [...state.steps.values()]) {
    if (step.policy.batch && step.status !== 'error') waiting = windUp(turn, step) || waiting
    else if (step.status === 'suspended' && step.notifyOnCancel && !isNotified(step)) {
      emit(turn, { type: 'stepSignalled', id: step.id, name: 'cancel', payload: null })
    } else if (step.status === 'error' || step.status === 'suspended' || step.held) {
      giveUp(turn, step)
    } else if (isNotified(step)) {
      // The step is left to finish, because this is its chance to cancel what it waits for.
    } else if (step.operation === 'run' && !step.dispatched) giveUp(turn, step)
    else if (step.operation === 'run' && !step.aborted) {
      step.aborted = true
      turn.aborts.push(step.id)
    }
    waiting ||= isOutstanding(step)
  }
  const normal = isNormal(reason.cause)
  for (const child of state.children.values()) {
    if (child.status !== 'running' || child.onCancel === 'detach' || (normal && child.mode === 'start')) continue
    waiting = true
    // Sent again in later turns, which is harmless and covers a crash between two of them.
    if (child.onCancel === 'cancel' && turn.events.length > 0) {
      const message = {
        type: 'cancel' as const,
        force: false,
        compensate: undoesCalledOff(reason),
        reason: 'the parent stopped',
      }
      turn.posts.push({ task: child.task, message, control: true })
    }
  }
  if (waiting) return
  if (reason.cause === 'continue') {
    for (const id of state.locks.keys()) if (id > 0) giveBack(turn.gates, id)
    const pendingSignals = state.mailbox.map(({ name, payload }) => ({ name, payload }))
    const rest = { nextId: state.endId, pendingSignals, locksHeld: true as const }
    return continueAsNew(turn, { input: reason.output ?? null, ...rest })
  }
  if (startCompensation(turn)) return closeCompensation(turn, reason)
  stop(turn, reason)
}

/** Ends a batch: no more children start, and its step ends with the last of them. Returns whether children are still awaited. */
function windUp(turn: Turn, step: Step): boolean {
  const batch = turn.state.batches.get(step.id)
  if (!batch || !step.policy.batch) return false
  if (!batch.stopping || step.status === 'running') stopBatch(turn, step)
  if (!isDrained(batch, step.policy.batch)) return true
  emit(turn, { type: 'stepCancelled', id: step.id })
  return false
}

/** A step that waits for its next attempt, or for an operator, is cancelled, unless it may have taken effect. */
function giveUp(turn: Turn, step: Step): void {
  const doubtful = step.unknown || step.status === 'suspended'
  if (doubtful && step.policy.verify) {
    if (step.operation !== 'verify' || step.dispatched || step.held)
      emit(turn, { type: 'verifyRequested', id: step.id, at: turn.at })
    return
  }
  if (doubtful) {
    const message = `step ${step.id} (${step.name}) was given up, and nobody knows whether it took effect`
    turn.alerts.push({
      task: turn.state.id,
      workflow: turn.state.workflow,
      cause: 'unknown-outcome',
      step: step.id,
      message,
    })
  }
  emit(turn, { type: 'stepCancelled', id: step.id })
}
