import { driveBatches, isDrained, stopBatch } from '../batch/batching.ts'
import type { ErrorRecord } from '../json.ts'
import type { Outcome, Reply } from '../message.ts'
import { rescuePlanned } from '../plan/rescue.ts'
import type { PauseCause } from '../task/pause.ts'
import { emit, type Turn } from '../turn.ts'
import { bereft, isDeadly, keepsDying, lossOf, lossWait } from './loss.ts'
import { backoff, type RetryPlan } from './policy.ts'
import type { AttemptTrace, Loss, Step } from './step.ts'

type FailedOutcome = Extract<Outcome, { kind: 'failed' }>

/**
 * What follows a failed attempt: another one, the question whether it took effect, the rescue strategy, or an operator.
 * Nothing here guesses: an unknown outcome that matters is verified or held.
 */
export function attemptFailed(turn: Turn, step: Step, reply: Reply, outcome: FailedOutcome): void {
  if (reply.checkpoint !== undefined)
    emit(turn, { type: 'heartbeat', id: step.id, attempt: reply.attempt, checkpoint: reply.checkpoint })
  if (reply.operation === 'run') return runFailed(turn, step, reply, outcome)
  const plan = step.policy.undoRetry
  const budget = budgetOf(turn, step, plan, reply, outcome)
  const record = {
    type: 'attemptFailed' as const,
    id: step.id,
    operation: reply.operation,
    error: outcome.error,
    ...(budget.lost && { lost: budget.lost }),
    ...trace(reply),
  }
  if ((budget.lost || outcome.retryable) && budget.left) {
    return emit(turn, { ...record, next: { operation: reply.operation, at: turn.at + budget.wait } })
  }
  emit(turn, record)
  const error = budget.lost ? keepsDying(step, step.losses, outcome.error) : outcome.error
  hold(turn, step, reply.operation === 'undo' ? 'undo' : 'unknown-outcome', error)
}

/** The budget to which a failed attempt is charged: whether some of it is left, and the wait before the next attempt. */
interface Budget {
  lost: Loss | undefined
  left: boolean
  wait: number
}

/** Failures of the service count against the step's retries; losses with a process have a generous count of their own. */
function budgetOf(turn: Turn, step: Step, plan: RetryPlan, reply: Reply, outcome: FailedOutcome): Budget {
  const lost = lossOf(reply, outcome)
  if (lost === 'stop') return { lost, left: true, wait: 0 }
  if (lost) {
    const then = bereft(step, reply, lost)
    return { lost, left: !isDeadly(then), wait: lossWait(then, turn.random()) }
  }
  const failures = step.failures[reply.operation] + 1
  const wait = Math.max(backoff(plan, failures, turn.random()), Math.ceil(outcome.retryAfter ?? 0))
  return { lost, left: failures < plan.attempts, wait }
}

function runFailed(turn: Turn, step: Step, reply: Reply, outcome: FailedOutcome): void {
  const { policy } = step
  const unknown = outcome.unknown === true
  const { lost, left, wait } = budgetOf(turn, step, policy.retry, reply, outcome)
  const record = {
    type: 'attemptFailed' as const,
    id: step.id,
    operation: 'run' as const,
    error: outcome.error,
    ...(unknown && { unknown: true as const }),
    ...(lost && { lost }),
    ...trace(reply),
  }
  if (unknown && policy.verify) return emit(turn, { ...record, next: { operation: 'verify', at: turn.at + wait } })
  const wanted = !turn.state.batches.get(step.id)?.stopping
  // The action took effect, and without its output it could not be undone, so neither a failure nor a success can be recorded here.
  if (outcome.done) {
    emit(turn, record)
    return hold(turn, step, 'unknown-outcome', unrecordable(step, outcome.error))
  }
  // An attempt that certainly did not begin may be repeated under any semantics.
  const again = policy.semantics === 'at-least-once' || (lost !== undefined && !unknown && !step.unknown)
  const mayRetry = (outcome.retryable || lost) && !turn.state.closing && again && wanted && inTime(turn, step, wait)
  if (mayRetry && left) return emit(turn, { ...record, next: { operation: 'run', at: turn.at + wait } })
  if (step.unknown && policy.verify) return emit(turn, { ...record, next: { operation: 'verify', at: turn.at } })
  emit(turn, record)
  if (step.unknown && policy.semantics === 'at-most-once') return hold(turn, step, 'unknown-outcome', outcome.error)
  if (mayRetry && lost) return hold(turn, step, 'step', keepsDying(step, step.losses, outcome.error))
  rescue(turn, step, outcome.error)
}

function unrecordable(step: Step, cause: ErrorRecord): ErrorRecord {
  const message = `step ${step.id} (${step.name}) did its work, but what it gave cannot be recorded: ${cause.message}`
  return { name: 'TriarchError', code: 'STEP_UNRECORDABLE', message, cause }
}

/** Handles the answer of a verification: the last attempt did not take effect, or the service cannot tell. */
export function verified(turn: Turn, step: Step, answer: 'not-done' | 'unknown'): void {
  const record = { type: 'verified' as const, id: step.id, answer }
  const error = step.error ?? { name: 'Error', message: 'unknown outcome' }
  const mayRetry =
    !turn.state.closing &&
    step.policy.semantics === 'at-least-once' &&
    step.failures.run < step.policy.retry.attempts &&
    inTime(turn, step, 0)
  const dying = mayRetry && isDeadly(step)
  if (mayRetry && !dying) return emit(turn, { ...record, next: { operation: 'run', at: turn.at } })
  // Until the lost attempt's complete-by, its request may still reach the service, so that a "no" which ends the step would come too early.
  if (answer === 'not-done' && turn.at < step.doubtUntil) {
    return emit(turn, { ...record, next: { operation: 'verify', at: step.doubtUntil } })
  }
  if (answer === 'not-done') {
    emit(turn, record)
    return dying ? hold(turn, step, 'step', keepsDying(step, step.losses, error)) : rescue(turn, step, error)
  }
  const asked = step.failures.verify + 1
  if (asked < step.policy.undoRetry.attempts) {
    const at = turn.at + backoff(step.policy.undoRetry, asked, turn.random())
    return emit(turn, { ...record, next: { operation: 'verify', at } })
  }
  emit(turn, record)
  hold(turn, step, 'unknown-outcome', error)
}

/** Brings every batch forward. Batches that failed are rescued like other steps. */
export function settleBatches(turn: Turn): void {
  for (const { step, error } of driveBatches(turn)) rescue(turn, step, error)
}

/** Applies the rescue strategy of a step whose retries are used up. */
function rescue(turn: Turn, step: Step, error: ErrorRecord): void {
  if (awaitsChildren(turn, step, error)) return
  if (turn.state.closing) return emit(turn, { type: 'stepCancelled', id: step.id })
  if (turn.state.plan) return rescuePlanned(turn, step, error)
  switch (step.policy.rescue) {
    case 'skip':
      return emit(turn, { type: 'stepSkipped', id: step.id, output: step.policy.substitute, by: 'rescue' })
    case 'pause':
      return hold(turn, step, 'step', error)
    case 'fail':
    case 'compensate':
      return emit(turn, { type: 'stepFailed', id: step.id, error })
  }
}

/** Whether the step of a batch whose source failed must wait until its children have ended before it fails. */
function awaitsChildren(turn: Turn, step: Step, error: ErrorRecord): boolean {
  const batch = turn.state.batches.get(step.id)
  if (!batch || !step.policy.batch || isDrained(batch, step.policy.batch)) return false
  stopBatch(turn, step, error)
  return !isDrained(batch, step.policy.batch)
}

/** The task pauses until an operator has decided about the step, and an alert goes out. */
export function hold(turn: Turn, step: Step, reason: PauseCause, cause: ErrorRecord): void {
  const error = heldFor(reason, step, cause)
  emit(turn, { type: 'paused', reason, step: step.id, error })
  turn.alerts.push({
    task: turn.state.id,
    workflow: turn.state.workflow,
    cause: reason,
    step: step.id,
    message: error === cause ? `step ${step.id} (${step.name}) needs an operator: ${error.message}` : error.message,
  })
}

function heldFor(reason: PauseCause, step: Step, cause: ErrorRecord): ErrorRecord {
  const name = 'TriarchError'
  const of = `step ${step.id} (${step.name})`
  if (reason === 'undo')
    return { name, code: 'UNDO_FAILED', message: `${of} cannot be undone: ${cause.message}`, cause }
  if (reason !== 'unknown-outcome' || cause.code === 'STEP_UNRECORDABLE') return cause
  return {
    name,
    code: 'STEP_UNKNOWN_OUTCOME',
    message: `nobody knows whether ${of} took effect: ${cause.message}`,
    cause,
  }
}

function inTime(turn: Turn, step: Step, wait: number): boolean {
  const bound = Math.min(step.expiresAt ?? Number.POSITIVE_INFINITY, turn.state.completeBy ?? Number.POSITIVE_INFINITY)
  return turn.at + wait < bound
}

export function trace(reply: Reply): AttemptTrace {
  const { attempt, startedAt, endedAt, node, outcome } = reply
  const cached = 'cached' in outcome && outcome.cached
  return { attempt, startedAt, endedAt, node, ...(cached && { cached }) }
}
