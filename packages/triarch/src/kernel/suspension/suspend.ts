import type { TaskState } from '../state.ts'
import { moveStep, next } from '../step/change.ts'
import { forgive } from '../step/loss.ts'
import type { RecordedStepSignal, Step } from '../step/step.ts'
import { isNotified, type SelfSignal, type Suspension } from './suspension.ts'

/** A suspended step keeps only what it waits for, and the signals that arrived while it was busy. */
export function suspend(
  state: TaskState,
  step: Step,
  until: number | null,
  selfSignals: readonly SelfSignal[],
  at: number,
): void {
  moveStep(step, 'suspended')
  step.failures.run = 0
  forgive(step)
  step.unknown = false
  step.received = null
  const suspension = suspensionOf(state, step.id)
  suspension.until = until
  // A later self-signal replaces the one of the same name.
  const others = suspension.selfSignals.filter((old) => selfSignals.every(({ name }) => name !== old.name))
  suspension.selfSignals = [...others, ...selfSignals]
  const [first] = suspension.queue.splice(0, 1)
  if (first) wake(step, suspension, first, at)
}

/** A signal for a step, which runs again with it, at once or after what it is doing now. */
export function signal(
  state: TaskState,
  step: Step,
  received: RecordedStepSignal,
  { selfSignalAt, queued }: { selfSignalAt?: number; queued?: true },
  at: number,
): void {
  const suspension = suspensionOf(state, step.id)
  if (selfSignalAt !== undefined) {
    const rung = suspension.selfSignals.findIndex((other) => other.at === selfSignalAt && other.name === received.name)
    if (rung >= 0) suspension.selfSignals.splice(rung, 1)
  }
  if (step.status === 'suspended' && !queued) wake(step, suspension, received, at)
  else suspension.queue.push(received)
}

/** Keeps the signal that the step was handling when it was held, for its next wait, because the sender will not send it again. */
export function keepReceived(state: TaskState, step: Step): void {
  if (step.received) suspensionOf(state, step.id).queue.unshift(step.received)
}

function wake(step: Step, suspension: Suspension, received: RecordedStepSignal, at: number): void {
  moveStep(step, 'running')
  suspension.until = null
  step.received = received
  if (isNotified(step)) step.notifyOnCancel = false
  next(step, { operation: 'run', at })
}

function suspensionOf(state: TaskState, id: number): Suspension {
  const known = state.suspensions.get(id)
  if (known) return known
  const suspension: Suspension = { until: null, selfSignals: [], queue: [] }
  state.suspensions.set(id, suspension)
  return suspension
}

/** The next instant at which a suspended step has a timeout, a self-signal or its complete-by. */
export function nextRing(state: TaskState): number {
  let first = Number.POSITIVE_INFINITY
  for (const [id, { until, selfSignals }] of state.suspensions) {
    const step = state.steps.get(id)
    if (step?.status === 'suspended') first = Math.min(first, step.expiresAt ?? first, until ?? first)
    for (const { at } of selfSignals) first = Math.min(first, at)
  }
  return first
}
