import { loseLocks, restartGate } from '../lock/standing.ts'
import type { TaskState } from '../state.ts'
import { retry } from '../step/change.ts'
import type { TaskFact } from './event.ts'

/** A stopped task goes on: steps without an outcome are tried again, under attempt numbers that no old reply has. */
export function rewind(state: TaskState, to: Extract<TaskFact, { type: 'reset' }>, at: number): void {
  const { step: stepId, input, attempts = {}, endId = 0 } = to
  // A rebuild leaves out the stop, which this rewind makes void.
  if (state.status !== 'stopped') state.stops++
  // A pause from before the stop is over; code that had not begun begins now.
  state.pause = null
  state.deferred = []
  state.status = state.begun ? 'running' : state.plan ? 'planned' : 'pending'
  state.result = 'pending'
  state.output = undefined
  state.error = undefined
  state.closing = null
  state.frozen = false
  state.predecessors.clear()
  loseLocks(state)
  lift(state, at)
  state.generation++
  state.tried = attempts
  state.endId = Math.max(state.endId, endId)
  for (const step of state.steps.values()) {
    if (step.status !== 'running' && step.status !== 'error' && step.status !== 'suspended') continue
    const tried = attempts[step.id] ?? 0
    step.attempts.run = Math.max(step.attempts.run, tried)
    step.attempts.verify = Math.max(step.attempts.verify, tried)
    retry(state, step, at, step.id === stepId ? input : undefined)
    state.plan?.failedSteps.delete(step.id)
  }
  if (stepId !== null && input !== undefined) state.plan?.edited.set(stepId, input)
}

/** Continue-as-new: nothing of the earlier run is kept but what was sent to the task from outside. */
export function restart(state: TaskState, from: Extract<TaskFact, { type: 'continuedAsNew' }>, at: number): void {
  const {
    input,
    nextId,
    pendingSignals,
    requests = [],
    tokenRequests = [],
    digests = {},
    fromStart = false,
    locksHeld = false,
    left = 0,
    stops = 0,
  } = from
  restartGate(state, locksHeld)
  if (from.parent) {
    state.parent = from.parent
    state.adopted = true
  }
  if (from.completeBy !== undefined) state.completeBy = from.completeBy
  state.status = fromStart ? 'pending' : 'running'
  state.pause = null
  state.begun = !fromStart
  state.plan = null
  state.result = 'pending'
  state.output = undefined
  state.error = undefined
  state.progress = undefined
  state.input = input
  state.firstId = nextId
  state.nextId = nextId
  state.endId = nextId
  state.skipped = false
  state.undone = 0
  state.left = left
  state.undoBegun = false
  state.lastFailed = null
  state.failedAt = 0
  state.steps.clear()
  state.compensable.clear()
  state.timers.clear()
  state.waits.clear()
  state.children.clear()
  state.suspensions.clear()
  state.batches.clear()
  state.ordinal = 0
  // Signals carried over from the earlier run count in this one as if they had been sent to it.
  state.asides = 0 - pendingSignals.length
  state.generation = 0
  state.stops = stops
  state.failures = 0
  state.tried = {}
  state.mailbox = [...pendingSignals]
  state.requests = requests
  state.tokenRequests = tokenRequests
  state.digests = digests
  state.patches.clear()
  state.deferred = []
  state.closing = null
  lift(state, at)
}

/** Removes a complete-by that has passed: an operator who lets the task go on after it wants the task done nevertheless. */
function lift(state: TaskState, at: number): void {
  if (state.completeBy !== null && at >= state.completeBy) state.completeBy = null
}
