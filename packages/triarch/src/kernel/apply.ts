import { isBack, startBackwards, wentBack } from './backwards.ts'
import { batchChanged, batchEnded, batchPaged, startUndo } from './batch.ts'
import type { PauseReason, TaskEvent } from './event.ts'
import { applyGate, loseLocks, reclaimed } from './gate.ts'
import type { ErrorRecord } from './json.ts'
import { acquit, bear, forgive } from './loss.ts'
import { putMail, takeMail } from './mailbox.ts'
import { newPlanState, requested, settled, skipped } from './plan.ts'
import { restart, rewind } from './restart.ts'
import { startChild, submit } from './start.ts'
import type { Delivery, TaskState } from './state.ts'
import { decided, moveStep, moveTask, newStep, next, retry } from './step.ts'
import { isTold, keepEvent, signal, suspend } from './suspension.ts'

/**
 * The fold: applies one event of the history to the state. What the workflow's code is to be told goes to `deliveries`.
 * Live turns and replay use this one function, which is why they cannot disagree.
 */
export function apply(state: TaskState, event: TaskEvent, at: number, deliveries: Delivery[]): void {
  state.ordinal++
  switch (event.type) {
    case 'submitted':
      return submit(state, event, at)
    case 'planning':
      return moveTask(state, 'planning')
    case 'planned': {
      const { plan } = event
      moveTask(state, 'planning')
      moveTask(state, 'planned')
      state.plan = newPlanState(plan)
      return decided(state, plan.first + plan.steps.length - 1)
    }
    case 'started':
      state.begun = true
      return moveTask(state, 'running')
    case 'stepRequested': {
      const step = newStep(state, event, at)
      if (step.policy.expiresIn !== null) step.expiresAt = at + step.policy.expiresIn
      step.status = 'running'
      if (state.plan) requested(state.plan, event.id)
      return
    }
    case 'undoRegistered': {
      const policy = { undo: true, ...event.policy }
      const step = newStep(state, { id: event.id, action: null, name: event.name, input: null, policy }, at)
      step.undoOnly = true
      step.status = 'success'
      step.completedAt = state.ordinal
      state.steps.delete(event.id)
      state.done.set(event.id, step)
      return
    }
    case 'timerStarted':
      decided(state, event.id)
      state.timers.set(event.id, event.until)
      return
    case 'timerFired':
      state.timers.delete(event.id)
      return deliver(state, deliveries, { id: event.id, ok: true, value: null })
    case 'waitStarted': {
      decided(state, event.id)
      const mail = takeMail(state, event)
      return mail && deliver(state, deliveries, { id: event.id, ok: true, value: mail.payload })
    }
    case 'eventReceived': {
      const wait = putMail(state, event)
      return wait === undefined ? wait : deliver(state, deliveries, { id: wait, ok: true, value: event.payload })
    }
    case 'waitTimedOut': {
      const name = state.waits.get(event.id)?.name ?? ''
      state.waits.delete(event.id)
      return deliver(state, deliveries, { id: event.id, ok: false, reason: 'timeout', name })
    }
    case 'childStarted':
      decided(state, event.id)
      startChild(state, event)
      if (event.mode === 'start') deliver(state, deliveries, { id: event.id, ok: true, value: { id: event.task } })
      return
    case 'childStopped': {
      const child = state.children.get(event.id)
      if (!child) return
      child.status = 'stopped'
      child.completedAt = state.ordinal
      child.succeeded = event.result === 'success' || event.result === 'warning'
      // One that ends because the task ends is not why it ended.
      if (!child.succeeded && child.mode === 'call' && !isEnding(state)) state.lastFailed = event.id
      if (child.mode === 'start') return
      return deliver(
        state,
        deliveries,
        child.succeeded
          ? { id: event.id, ok: true, value: event.output ?? null }
          : { id: event.id, ok: false, reason: 'child', result: event.result, error: event.error, task: child.task },
      )
    }
    case 'unheeded':
      state.asides++
      return
    case 'patched':
      state.patches.add(event.patch)
      return
    case 'progressed':
      state.progress = event.progress
      return
    case 'returned':
      state.unwinding = { cause: 'returned', compensate: false, output: event.output }
      return
    case 'threw':
      state.lastFailed = failedBy(state, event.error)
      state.unwinding = { cause: 'threw', compensate: event.rescue === 'compensate', error: event.error }
      return
    case 'continuedAs':
      state.unwinding = { cause: 'continue', compensate: false, output: event.input }
      return
    case 'unwinding':
      if (state.pause) unpause(state)
      state.deferred = []
      state.unwinding = {
        cause: event.cause,
        compensate: event.compensate,
        ...(event.error && { error: event.error }),
      }
      if (state.status === 'stopped') {
        loseLocks(state)
        moveTask(state, 'running')
      }
      return
    case 'stepCompleted': {
      const step = state.steps.get(event.id)
      if (!step) return
      moveStep(step, 'success')
      state.suspensions.delete(event.id)
      step.completedAt = state.ordinal
      step.held = null
      step.unknown = false
      step.output = event.output
      state.steps.delete(event.id)
      if (step.policy.undo) state.done.set(event.id, step)
      return deliver(state, deliveries, { id: event.id, ok: true, value: event.output })
    }
    case 'stepSuspended': {
      const step = state.steps.get(event.id)
      if (!step) return
      if (event.checkpoint !== undefined) step.checkpoint = event.checkpoint
      if (event.progress !== undefined) step.progress = event.progress
      // Told once that its task stops, it is not told again. One that only now begins to wait is still to be told.
      step.wary = event.wary === true && !isTold(step)
      batchPaged(state, event)
      return suspend(state, step, event.until ?? null, event.alarms ?? [], at)
    }
    case 'stepSignalled': {
      const step = state.steps.get(event.id)
      if (step) signal(state, step, { name: event.name, payload: event.payload }, event, at)
      return
    }
    case 'attemptFailed': {
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
        // A later failure, however definite, does not clear the doubt about an earlier attempt: only an answer does.
        if (event.unknown) step.unknown = true
        if (event.unknown) step.doubtUntil = (event.startedAt ?? event.endedAt) + step.policy.completeWithin
      }
      next(step, event.next)
      return
    }
    case 'verified': {
      const step = state.steps.get(event.id)
      if (!step) return
      step.unknown = event.answer === 'unknown'
      if (event.next?.operation === 'verify') step.failures.verify++
      next(step, event.next)
      return
    }
    case 'verifyRequested': {
      const step = state.steps.get(event.id)
      if (!step) return
      step.held = null
      if (step.status === 'suspended') moveStep(step, 'running')
      next(step, { operation: 'verify', at: event.at })
      return
    }
    case 'heartbeat': {
      state.asides++
      const step = state.steps.get(event.id)
      if (!step) return
      if (event.progress !== undefined) step.progress = event.progress
      if (event.checkpoint !== undefined) step.checkpoint = event.checkpoint
      if (event.trial === 'begun') step.begun = true
      if (event.trial === 'survived') {
        step.lived = true
        acquit(step)
      }
      return
    }
    case 'stepFailed': {
      const step = state.steps.get(event.id)
      if (!step) return
      moveStep(step, 'error')
      state.suspensions.delete(event.id)
      step.error = event.error
      state.lastFailed = event.id
      state.steps.delete(event.id)
      batchEnded(state, step)
      return deliver(state, deliveries, { id: event.id, ok: false, reason: 'step', error: event.error, step })
    }
    case 'stepSkipped': {
      const step = state.steps.get(event.id)
      if (!step) return
      moveStep(step, 'skipped')
      state.suspensions.delete(event.id)
      state.skipped = true
      state.steps.delete(event.id)
      batchEnded(state, step)
      if (!state.plan) return deliver(state, deliveries, { id: event.id, ok: true, value: event.output ?? null })
      if (event.output === undefined) return skipped(state.plan, event.id, event.along ?? [])
      return settled(state.plan, event.id, event.output, 'skipped')
    }
    case 'stepParked': {
      const step = state.steps.get(event.id)
      if (!step) return
      moveStep(step, 'error')
      state.suspensions.delete(event.id)
      step.held = 'step'
      step.released = false
      step.error = event.error
      state.lastFailed = event.id
      state.plan?.parked.add(event.id)
      return
    }
    case 'stepCancelled': {
      const step = state.steps.get(event.id)
      state.suspensions.delete(event.id)
      state.steps.delete(event.id)
      if (!step) return
      moveStep(step, 'cancelled')
      batchEnded(state, step)
      return
    }
    case 'stepRetried': {
      const step = state.steps.get(event.id)
      if (step && event.keep) keepEvent(state, step)
      if (step) {
        retry(state, step, event.at, event.input)
        step.released = state.pause !== null && !state.pause.broken
      }
      state.plan?.parked.delete(event.id)
      if (event.input !== undefined) state.plan?.edited.set(event.id, event.input)
      return
    }
    case 'batchMoved':
    case 'batchStopping':
      return batchChanged(state, event)
    case 'undoRequested': {
      const child = state.children.get(event.id)
      if (child) child.status = 'compensating'
      if (state.plan) wentBack(state.plan, event.id)
      const step = state.done.get(event.id)
      if (!step) return
      state.done.delete(event.id)
      state.steps.set(event.id, step)
      moveStep(step, 'compensating')
      startUndo(state, event.id)
      forgive(step)
      next(step, { operation: 'undo', at: event.at })
      return
    }
    case 'undone': {
      const step = state.steps.get(event.id)
      if (step) moveStep(step, 'compensated')
      state.undone++
      if (state.plan) isBack(state.plan, event.id)
      state.steps.delete(event.id)
      state.children.delete(event.id)
      return
    }
    case 'paused': {
      const step = event.step === undefined ? undefined : state.steps.get(event.step)
      if (step) {
        step.held = event.reason
        step.released = false
        if (event.reason === 'step') moveStep(step, 'error')
      }
      const from = state.pause?.from ?? state.status
      moveTask(state, 'paused')
      // A step held meanwhile does not make good what the code stopped at.
      const broken = state.pause?.broken === true || ofCode.has(event.reason)
      if (event.reason === 'lock') reclaimed(state)
      if (event.reason === 'operator') state.asides++
      state.pause = { reason: event.reason, from, error: event.error, note: event.note ?? state.pause?.note, broken }
      return
    }
    case 'resumed': {
      state.asides++
      unpause(state)
      deliveries.push(...state.deferred)
      state.deferred = []
      return
    }
    case 'compensating':
      state.undoBegun = true
      startBackwards(state)
      return moveTask(state, 'compensating')
    case 'rewound':
      if (event.attempts) deliveries.push(...state.deferred)
      return rewind(state, event, at)
    case 'continued':
      return restart(state, event, at)
    case 'stopped':
      moveTask(state, 'stopped')
      state.result = event.result
      state.output = event.output
      state.error = event.error
      state.unwinding = null
      state.timers.clear()
      state.waits.clear()
      state.mailbox = []
      loseLocks(state)
      // A forced stop leaves undos behind that nobody waits for any more.
      for (const step of state.steps.values()) if (step.status === 'compensating') state.steps.delete(step.id)
      return
    default:
      return applyGate(state, event, (delivery) => deliver(state, deliveries, delivery))
  }
}

/** Reasons that lie in the code: it cannot go on from where it stands. */
const ofCode: ReadonlySet<PauseReason> = new Set(['mismatch', 'error'])

/** The step or child whose failure ended the run, if the code let it through: where a retry goes on. */
function failedBy(state: TaskState, error: ErrorRecord): number | null {
  const { stepId, childId } = (error.details ?? {}) as { stepId?: number; childId?: string }
  if (error.code === 'STEP_FAILED') return stepId ?? null
  if (error.code !== 'CHILD_FAILED') return null
  return [...state.children.values()].find((child) => child.task === childId)?.id ?? null
}

/** A plan has no code: its graph learns of it. The code hears nothing more once the task unwinds, and nothing yet while it is paused. */
function deliver(state: TaskState, deliveries: Delivery[], delivery: Delivery): void {
  if (state.plan) {
    if (delivery.ok) settled(state.plan, delivery.id, delivery.value)
    return
  }
  if (isEnding(state)) return
  if (state.status === 'paused') state.deferred.push(delivery)
  else deliveries.push(delivery)
}

function isEnding({ unwinding, status }: TaskState): boolean {
  return unwinding !== null || status === 'stopped'
}

function unpause(state: TaskState): void {
  state.status = state.pause?.from ?? 'running'
  state.pause = null
}
