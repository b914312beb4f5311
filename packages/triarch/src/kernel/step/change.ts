import { newBatch, tryAgain } from '../batch/batch.ts'
import { BrokenInvariant } from '../invariant.ts'
import type { Json } from '../json.ts'
import { decided, type TaskState } from '../state.ts'
import { mayMove, moves, type StepStatus } from '../status.ts'
import { forgive } from './loss.ts'
import { type RecordedPolicy, resolvePolicy } from './policy.ts'
import type { Operation, Step } from './step.ts'

const NONE: readonly never[] = []

/** Creates the state of a step. This file holds the changes of a step that several events share. */
export function newStep(
  state: TaskState,
  { id, action, name, input, policy }: Pick<Step, 'id' | 'action' | 'name' | 'input'> & { policy: RecordedPolicy },
  at: number,
): Step {
  decided(state, id)
  const tried = state.tried[id] ?? 0
  const step: Step = {
    id,
    action,
    fallbackOf: NONE,
    name,
    input,
    undoOnly: false,
    policy: resolvePolicy(policy),
    generation: state.generation,
    status: 'pending',
    operation: 'run',
    attempt: tried + 1,
    attempts: { run: tried + 1, verify: tried, undo: tried },
    failures: { run: 0, verify: 0, undo: 0 },
    losses: 0,
    doubts: 0,
    strikes: 0,
    patientUntil: 0,
    begun: false,
    lived: false,
    given: null,
    awaited: null,
    putOff: null,
    due: at,
    unknown: false,
    doubtUntil: 0,
    held: null,
    released: false,
    requestedAt: state.ordinal,
    completedAt: 0,
    expiresAt: null,
    output: undefined,
    error: undefined,
    checkpoint: undefined,
    progress: undefined,
    received: null,
    notifyOnCancel: false,
    dispatched: false,
    deferred: 0,
    lane: null,
    returned: null,
    aborted: false,
  }
  state.steps.set(id, step)
  if (step.policy.batch) state.batches.set(id, newBatch(state.generation))
  return step
}

export function next(step: Step, planned: { operation: Operation; at: number } | undefined): void {
  step.dispatched = false
  step.deferred = 0
  step.lane = null
  step.returned = null
  step.aborted = false
  step.begun = false
  step.lived = false
  step.given = null
  step.awaited = null
  step.putOff = null
  if (!planned) return
  step.operation = planned.operation
  step.attempts[planned.operation]++
  step.attempt = step.attempts[planned.operation]
  step.due = planned.at
}

/** The attempt runs elsewhere: until the given instant, the task's owner has no part in it and starts no other attempt. */
export function expectFromElsewhere(step: Step, until: number): void {
  step.awaited = until === 0 ? null : until
  step.dispatched = until !== 0
}

/** A retry by an operator, with a fresh retry budget. An edited input makes it another request with another idempotency key. */
export function retry(state: TaskState, step: Step, at: number, input: Json | undefined): void {
  if (step.status === 'error' || step.status === 'suspended') moveStep(step, 'running')
  const operation = step.status === 'compensating' ? 'undo' : step.unknown && step.policy.verify ? 'verify' : 'run'
  step.held = null
  step.received = null
  step.failures = { run: 0, verify: 0, undo: 0 }
  forgive(step)
  if (step.policy.expiresIn !== null) step.expiresAt = at + step.policy.expiresIn
  if (input !== undefined) {
    step.input = input
    step.generation = ++state.generation
  }
  const batch = state.batches.get(step.id)
  if (batch && operation === 'run') tryAgain(batch)
  next(step, { operation, at })
}

export function moveStep(step: Step, to: StepStatus): void {
  if (!mayMove(moves.step, step.status, to))
    throw new BrokenInvariant(`illegal step move ${step.status} → ${to} (step ${step.id})`)
  step.status = to
}
