import { expireLocks, pass } from './lock/claim.ts'
import { isGated } from './lock/gate.ts'
import type { TaskState } from './state.ts'
import { goes } from './step/dispatch.ts'
import { attemptFailed } from './step/failure.ts'
import type { Step } from './step/step.ts'
import { isWaiting } from './summary.ts'
import { ring } from './suspension/signal.ts'
import { nextRing } from './suspension/suspend.ts'
import { emit, isOutstanding, type Turn } from './turn.ts'

/** Handles everything that has become due, in the order of the instants. Timers never fire early: `at` decides. */
export function tick(turn: Turn): void {
  const { state, at } = turn
  if (state.status === 'stopped') return
  if (state.completeBy !== null && at >= state.completeBy && !state.closing)
    emit(turn, {
      type: 'closing',
      cause: 'deadline',
      compensate: true,
      error: { name: 'TriarchError', code: 'TASK_DEADLINE', message: 'the task was not done by its complete-by' },
    })
  if (state.closing) return
  if (state.timers.size + state.waits.size > 0) fire(turn)
  if (state.locks.size > 0) expireLocks(turn)
  if (state.suspensions.size > 0) for (const step of ring(turn)) expire(turn, step)
}

/** Fires timers and ends waits that have timed out. */
function fire(turn: Turn): void {
  const { state, at } = turn
  const due: { id: number; at: number; kind: 'timerFired' | 'waitTimedOut' }[] = []
  for (const [id, until] of state.timers) if (until <= at) due.push({ id, at: until, kind: 'timerFired' })
  for (const [id, wait] of state.waits) {
    if (wait.until !== null && wait.until <= at) due.push({ id, at: wait.until, kind: 'waitTimedOut' })
  }
  due.sort((a, b) => a.at - b.at || a.id - b.id)
  for (const { id, kind } of due) emit(turn, { type: kind, id })
}

/** Fails a suspended step that has reached its own complete-by. */
function expire(turn: Turn, step: Step): void {
  const error = { name: 'TriarchError', code: 'STEP_TIMEOUT', message: 'the step was not done by its complete-by' }
  const { id, operation, attempt } = step
  const outcome = { kind: 'failed' as const, error, retryable: false, unknown: true as const }
  const reply = { type: 'reply' as const, step: id, operation, attempt, outcome }
  attemptFailed(turn, step, { ...reply, startedAt: null, endedAt: turn.at, node: null }, outcome)
}

/**
 * Begins a pending task once its start time has come and its code or plan is here; returns whether it began. A task that was not started in
 * time expires. A task of a planning workflow begins with planning. `runWithin`: time from the start to the complete-by (ms).
 */
export function begin(turn: Turn, code: 'none' | 'function' | 'plan', runWithin?: number): boolean {
  const { state, at } = turn
  // A task that was just reset begins from its history, because only the history has the signals it received before it stopped.
  if (!isWaiting(state) || state.closing || turn.reload) return false
  if (state.startBefore !== null && at > state.startBefore) {
    const message = 'the task did not start before its start-before'
    emit(turn, { type: 'stopped', result: 'error', error: { name: 'TaskExpiredError', code: 'TASK_EXPIRED', message } })
    return false
  }
  if ((code === 'none' && !state.plan) || (state.startAt !== null && at < state.startAt)) return false
  if (!pass(turn)) return false
  if (!state.plan && code === 'plan') emit(turn, { type: 'planning' })
  else {
    const within = state.plan ? state.plan.plan.runWithin : runWithin
    const until = within === undefined ? null : Math.min(state.completeBy ?? Number.POSITIVE_INFINITY, at + within)
    emit(turn, { type: 'started', ...(until !== null && { completeBy: until }) })
  }
  return true
}

/** The next instant at which the task must act by itself; null: it waits for messages only. */
export function nextWake(state: TaskState): number | null {
  if (state.status === 'stopped') return null
  let next = Number.POSITIVE_INFINITY
  if (isWaiting(state)) {
    if (state.startAt !== null && !isGated(state)) next = state.startAt
    if (state.startBefore !== null) next = Math.min(next, state.startBefore + 1)
  }
  if (state.completeBy !== null && !state.closing) next = Math.min(next, state.completeBy)
  for (const step of state.steps.values()) {
    if (step.awaited !== null && isOutstanding(step)) next = Math.min(next, step.awaited)
    if (isOutstanding(step) && !step.dispatched && goes(state, step))
      next = Math.min(next, Math.max(step.due, step.deferred))
  }
  if (state.status !== 'paused') {
    if (!state.closing) {
      for (const until of state.timers.values()) next = Math.min(next, until)
      for (const wait of state.waits.values()) next = Math.min(next, wait.until ?? next)
      for (const lock of state.locks.values()) if (lock.standing === 'asked') next = Math.min(next, lock.until ?? next)
      if (state.suspensions.size > 0) next = Math.min(next, nextRing(state))
    }
  }
  return next === Number.POSITIVE_INFINITY ? null : next
}
