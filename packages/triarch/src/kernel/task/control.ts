import { callOff } from '../batch/batching.ts'
import type { Json } from '../json.ts'
import { missingLocks } from '../lock/gate.ts'
import type { Message } from '../message.ts'
import { isRemark, type Remark, remarkOf } from '../remark.ts'
import type { TaskState } from '../state.ts'
import { succeeded } from '../status.ts'
import { skipping } from '../step/skip.ts'
import type { Step } from '../step/step.ts'
import { emit, isOutstanding, messageIgnored, stale, type Turn } from '../turn.ts'
import type { TaskFact } from './event.ts'
import { incompleteDetails, leftOf } from './left.ts'
import { continueAsNew } from './renew.ts'
import { tellParent } from './stop.ts'

type Control = Extract<Message, { type: 'cancel' | 'pause' | 'resume' | 'retry' | 'skip' | 'compensate' | 'report' }>

/** Requests of operators (and parents) for a task. A request that does not fit the task's state is counted as stale and changes nothing. */
export function control(turn: Turn, message: Control): void {
  const { state } = turn
  switch (message.type) {
    case 'cancel':
      return cancel(turn, message)
    case 'pause':
      if (state.status === 'stopped') return messageIgnored(turn, message, 'the task has stopped')
      if (state.status === 'paused') return already(turn, message, 'the task is paused already')
      return emit(turn, { type: 'paused', reason: 'operator', ...remarkOf(message) })
    case 'resume':
      if (!state.pause) return messageIgnored(turn, message, 'the task is not paused')
      // Locks that are still queued arrive by themselves; only refused ones are requested again.
      if (state.pause.reason === 'lock' && !missingLocks(state).some(({ standing }) => standing === 'refused'))
        return messageIgnored(turn, message, 'the task waits for its locks')
      for (const step of held(state)) retryStep(turn, step, undefined)
      return resume(turn, remarkOf(message))
    case 'retry':
      return retry(turn, message)
    case 'skip':
      return skip(turn, message)
    case 'report':
      return answerParent(turn)
    case 'compensate':
      if (state.status !== 'stopped' || !succeeded(state.result))
        return 'outside' in message ? messageIgnored(turn, message, 'the task has not succeeded') : answerParent(turn)
      return emit(turn, { type: 'closing', cause: 'operator', compensate: true, ...remarkOf(message) })
  }
}

function cancel(turn: Turn, message: Extract<Control, { type: 'cancel' }>): void {
  const { state } = turn
  if (state.status === 'stopped') return messageIgnored(turn, message, 'the task has stopped')
  const compensating = state.status === 'compensating' || state.pause?.from === 'compensating'
  if ((compensating || state.closing?.cause === 'cancel') && !message.force)
    return already(turn, message, 'the task is being cancelled or undone already')
  const left = message.force ? leftOf(state) : 0
  const said = { name: 'TaskCancelledError', code: 'TASK_CANCELLED', message: message.reason ?? 'cancelled' }
  const error = { ...said, ...incompleteDetails(left) }
  const compensate = !message.force && (message.compensate ?? true)
  // The reason is in the error.
  const { actor } = message
  emit(turn, { type: 'closing', cause: 'cancel', compensate, error, ...(actor !== undefined && { actor }) })
  if (!message.force) return
  // A forced cancellation awaits nothing. Attempts that still run lose their right to report.
  for (const step of [...state.steps.values()]) {
    turn.aborts.push(step.id)
    turn.forgotten.push(step.id)
    callOff(turn, step, message)
    if (step.status !== 'compensating') emit(turn, { type: 'stepCancelled', id: step.id })
  }
  for (const child of state.children.values()) {
    if (child.status !== 'running' || child.onCancel === 'detach') continue
    turn.posts.push({ task: child.task, message: { ...message, type: 'cancel' }, control: true })
  }
  emit(turn, { type: 'stopped', result: 'cancelled', error })
}

/**
 * Why the request would change nothing in the task's present state; null: it has an effect. The caller is told, as far as this can be known
 * then.
 */
export function whyNot(
  state: TaskState,
  message: Extract<Control, { type: 'retry' | 'skip' }>,
  at: number,
): string | null {
  const { type, step } = message
  const between = betweenAttempts(state, step, at)
  if (between) return type === 'skip' && isUnderWay(state, between) ? `children of step ${step} are under way` : null
  const all = held(state)
  const isHeld = all.some(({ id }) => id === step)
  if (state.status === 'paused') {
    if (step !== undefined) return isHeld ? null : `step ${step} is not held`
    // One input cannot be meant for several steps.
    if (type === 'skip' || message.input === undefined || all.length < 2) return null
    return `steps ${all.map(({ id }) => id).join(', ')} are held, and the input is for one: say by \`step\` for which`
  }
  if (state.status !== 'stopped' && step !== undefined)
    return `step ${step} is neither held nor waits for its next attempt`
  // The task may have succeeded since the request was sent.
  if (state.status !== 'stopped' || state.result === 'success') return 'the task neither is paused nor failed'
  if (type === 'skip')
    return mayBeSkipped(state, message.step) ? null : `step ${step} is not the one whose failure ended the task`
  // A step of an earlier run has no outcome in this one to which the task could go back.
  const isThere = step === undefined || (step >= state.firstId && step < state.nextId)
  return isThere ? null : `there is no step ${step} in this run`
}

function retry(turn: Turn, message: Extract<Control, { type: 'retry' }>): void {
  const { state } = turn
  const reason = whyNot(state, message, turn.at)
  if (reason !== null) return messageIgnored(turn, message, reason)
  const between = betweenAttempts(state, message.step, turn.at)
  if (between) return retryStep(turn, between, message.input, remarkOf(message))
  if (state.status === 'paused') {
    const { input } = message
    for (const step of held(state))
      if (message.step === undefined || step.id === message.step) retryStep(turn, step, input, remarkOf(message))
    return held(state).length === 0 ? resume(turn, remarkOf(message)) : undefined
  }
  // The task starts over under new idempotency keys, because everything was undone, or an edited input invalidates all of it.
  if (state.undoBegun || (message.step === undefined && message.input !== undefined)) {
    const fromStart = state.plan !== null || !state.begun
    const input = message.input ?? state.input
    continueAsNew(turn, {
      input,
      nextId: state.endId,
      pendingSignals: [],
      ...(fromStart && { fromStart }),
      ...remarkOf(message),
    })
  } else {
    const step = message.step ?? state.lastFailed
    const { input } = message
    reset(turn, { step, ...(input !== undefined && { input }), ...remarkOf(message) })
  }
  turn.reload = true
}

function skip(turn: Turn, message: Extract<Control, { type: 'skip' }>): void {
  const { state } = turn
  const reason = whyNot(state, message, turn.at)
  if (reason !== null) return messageIgnored(turn, message, reason)
  const between = betweenAttempts(state, message.step, turn.at)
  if (between) return skipStep(turn, between, message)
  if (state.status === 'stopped') {
    reset(turn, { step: message.step })
    emit(turn, { ...skipping(state, message.step, message.output, 'operator'), ...remarkOf(message) })
    turn.reload = true
    return
  }
  skipStep(turn, held(state).find((candidate) => candidate.id === message.step) as Step, message)
  if (held(state).length === 0) resume(turn)
}

function skipStep(turn: Turn, step: Step, message: Extract<Control, { type: 'skip' }>): void {
  const { attempt } = step
  const trace = { attempt, startedAt: null, endedAt: turn.at, node: null }
  if (step.status === 'compensating')
    emit(turn, { type: 'undone', id: step.id, by: 'operator', ...trace, ...remarkOf(message) })
  else emit(turn, { ...skipping(turn.state, step.id, message.output, 'operator'), ...remarkOf(message) })
}

/**
 * The step, if it waits for the instant of its next attempt, or if that instant came while the task was paused. No agent has the attempt, so an
 * operator may hurry or skip it. A client tells this from the history alone, which does not say what has been dispatched.
 */
function betweenAttempts(state: TaskState, id: number | undefined, at: number): Step | undefined {
  const step = id === undefined || state.status === 'stopped' ? undefined : state.steps.get(id)
  if (!step || !isOutstanding(step) || step.dispatched) return undefined
  const pausedBefore = state.pause !== null && state.pause.since < step.due && !step.released
  return step.due > at || pausedBefore ? step : undefined
}

/** Children of the step's batch run, and would go on without it. */
function isUnderWay(state: TaskState, { id }: Step): boolean {
  return (state.batches.get(id)?.outstanding.size ?? 0) > 0
}

/**
 * Rewinds the task to the step's outcome. Children that ended without success while the task failed are retried too, because its code never
 * handled their ends. A child that succeeded meanwhile ignores the retry and reports its result.
 */
function reset(turn: Turn, event: Omit<Extract<TaskFact, { type: 'reset' }>, 'type'>): void {
  const { children, failedAt } = turn.state
  const asked = children.get(event.step ?? 0)
  const again = [...children.values()].filter(
    (child) => child.status === 'stopped' && !child.succeeded && (child === asked || child.completedAt >= failedAt),
  )
  emit(turn, { type: 'reset', ...event, ...(again.length > 0 && { children: again.map(({ id }) => id) }) })
  const message = { type: 'retry' as const, ...(event.note !== undefined && { reason: event.note }) }
  for (const { task } of again)
    turn.posts.push({ task, message, control: true }, { task, message: { type: 'report' }, control: true })
  if (asked && !again.includes(asked)) turn.posts.push({ task: asked.task, message: { type: 'report' }, control: true })
}

/** Retries a step. A signal that it was handling is delivered again, unless an edited input makes it another request. */
function retryStep(turn: Turn, step: Step, input: Json | undefined, remark: Remark = {}): void {
  const keepSignal =
    input === undefined && step.status !== 'compensating' && step.received !== null && !ofEngine(step.received.name)
  emit(turn, {
    type: 'stepRetried',
    id: step.id,
    at: turn.at,
    ...(input !== undefined && { input }),
    ...(keepSignal && { keepSignal }),
    ...remark,
  })
}

function ofEngine(signal: string): boolean {
  return signal === 'timeout' || signal === 'cancel'
}

function resume(turn: Turn, remark: Remark = {}): void {
  const broken = turn.state.pause?.broken
  emit(turn, { type: 'resumed', ...remark })
  // The code restarts from the history, perhaps in a corrected version.
  if (broken) turn.reload = true
}

/** The request is fulfilled already; only its remark, if any, is recorded. */
function already(turn: Turn, message: Control, why: string): void {
  if (isRemark(remarkOf(message))) messageIgnored(turn, message, why)
  else stale(turn)
}

/** Answers a parent, which waits for an answer even if nothing is (left) to undo. */
function answerParent(turn: Turn): void {
  const { status, parent } = turn.state
  if (status === 'stopped' && parent) tellParent(turn, parent)
}

/** The step whose failure ended the task can be skipped as long as nothing is undone. */
function mayBeSkipped({ lastFailed, undoBegun, children }: TaskState, step: number): boolean {
  return lastFailed === step && !undoBegun && !children.has(step)
}

function held({ steps }: TaskState): Step[] {
  return [...steps.values()].filter((step) => step.held !== null)
}
