import { childEnded, repeatedPage } from './batch/batching.ts'
import { askedAgain } from './child/again.ts'
import { childRefused } from './child/refusal.ts'
import type { Json } from './json.ts'
import { gateOpened, reclaim } from './lock/claim.ts'
import type { Message, Outcome, Reply } from './message.ts'
import { FINALIZE } from './plan/plan.ts'
import { remarkOf } from './remark.ts'
import { isRequested } from './state.ts'
import { succeeded } from './status.ts'
import { awaitedUntil, overdueElsewhere } from './step/elsewhere.ts'
import { attemptFailed, trace, verified } from './step/failure.ts'
import { mayFallBack } from './step/fallback.ts'
import { isSuspect } from './step/loss.ts'
import type { Loss, Operation, Step } from './step/step.ts'
import { signalled } from './suspension/signal.ts'
import { control } from './task/control.ts'
import { leftBy } from './task/left.ts'
import { tick } from './tick.ts'
import { emit, isOutstanding, messageIgnored, stale, type Turn } from './turn.ts'
import { unveil } from './veiled.ts'

/** Returns why the workflow accepts no signal of this name, or undefined if it may accept it. */
type SignalRefusal = (signal: string) => string | undefined

/** Applies one message to the turn. A message that no longer fits the task's state changes nothing and is counted. */
export function receive(turn: Turn, message: Message, refusal?: SignalRefusal): void {
  if (!isKnown(turn, message)) take(turn, message, refusal)
  // After a rewind the locks are only known once the history has been read again.
  if (!turn.reload) reclaim(turn)
}

/** Whether a request with this message's id was received before; then the message is dropped. A new id is recorded. */
function isKnown(turn: Turn, message: Message): boolean {
  const request = 'request' in message ? message.request : undefined
  if (request === undefined) return false
  if (isRequested(turn.state, request)) {
    stale(turn)
    return true
  }
  const digest = 'digest' in message ? message.digest : undefined
  const by = message.type === 'signal' ? { by: 'token' as const } : {}
  emit(turn, { type: 'requestReceived', request, ...(digest !== undefined && { digest }), ...by })
  return false
}

function take(turn: Turn, message: Message, refusal?: SignalRefusal): void {
  const { state } = turn
  switch (message.type) {
    case 'reply':
      return replied(turn, message)
    case 'heartbeat': {
      const step = state.steps.get(message.step)
      if (!step || step.attempt !== message.attempt || !isOutstanding(step)) return stale(turn)
      const { progress, trial, elsewhere } = message
      // Every heartbeat repeats the checkpoint in case an earlier one was lost; the history records each checkpoint once.
      const checkpoint = isSame(message.checkpoint, step.checkpoint) ? undefined : message.checkpoint
      if (elsewhere !== undefined) return runsElsewhere(turn, step, elsewhere)
      if (step.operation !== 'run' && !trial) return stale(turn)
      if (progress === undefined && checkpoint === undefined && trial === undefined) return
      return emit(turn, {
        type: 'heartbeat',
        id: message.step,
        attempt: message.attempt,
        ...(progress !== undefined && { progress }),
        ...(checkpoint !== undefined && { checkpoint }),
        ...(trial && { trial }),
      })
    }
    case 'event': {
      if (state.status === 'stopped' || (state.closing && state.closing.cause !== 'continue'))
        return messageIgnored(turn, message, 'the task stops or has stopped')
      const refused = refusal?.(message.name)
      if (refused !== undefined) return refuseSignal(turn, message, refused)
      return emit(turn, { type: 'signalReceived', name: message.name, payload: message.payload, ...remarkOf(message) })
    }
    case 'signal':
      return signalled(turn, message)
    case 'child':
      if (turn.state.batches.has(message.step)) return childEnded(turn, message) ? undefined : stale(turn)
      return childStopped(turn, message)
    case 'again':
      return askedAgain(turn, message)
    case 'tick':
      return tick(turn)
    case 'lock':
    case 'antecedent':
    case 'thaw':
      return gateOpened(turn, message)
    case 'planned':
    case 'unplanned':
      return planned(turn, message)
    case 'takeover':
      return takeOver(turn, message.step)
    case 'cut':
      return cut(turn, message.step)
    case 'kept':
      return
    case 'illegible':
      return emit(turn, { type: 'messageIgnored', message: message.type, reason: 'the letter could not be read' })
    default:
      return control(turn, message)
  }
}

/** Records the refusal and raises an alert: no code will ever wait for this signal, so its sender needs to be found. */
function refuseSignal(turn: Turn, message: Extract<Message, { type: 'event' }>, reason: string): void {
  emit(turn, { type: 'messageIgnored', message: 'event', name: message.name, reason, ...remarkOf(message) })
  const { id: task, workflow } = turn.state
  turn.alerts.push({ task, workflow, cause: 'signal', message: reason, code: 'SIGNAL_REFUSED' })
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && JSON.stringify(one) === JSON.stringify(other))
}

function replied(turn: Turn, reply: Reply): void {
  const step = turn.state.steps.get(reply.step)
  const current = step && isOutstanding(step) && step.operation === reply.operation && step.attempt === reply.attempt
  if (!current) return stale(turn)
  const { outcome } = reply
  switch (outcome.kind) {
    case 'done':
      if (reply.operation === 'undo') return emit(turn, { type: 'undone', id: step.id, ...trace(reply) })
      return emit(turn, {
        type: 'stepCompleted',
        id: step.id,
        output: outcome.output,
        ...(reply.operation === 'verify' && { by: 'verify' as const }),
        ...trace(reply),
      })
    case 'not-done':
    case 'unknown':
      return reply.operation === 'verify' ? verified(turn, step, outcome.kind) : stale(turn)
    case 'suspended':
      return reply.operation === 'run' ? suspended(turn, reply, outcome) : stale(turn)
    case 'withdrawn':
      if (isToldAgain(step, reply)) return stale(turn)
      step.returned = { startedAt: reply.startedAt, node: reply.node }
      if (outcome.fallback && mayFallBack(turn.state, step, outcome.fallback))
        return emit(turn, { type: 'fallbackRequested', id: step.id, ...outcome.fallback, at: turn.at })
      if (step.awaited !== null) emit(turn, { type: 'heartbeat', id: step.id, attempt: step.attempt, awaited: 0 })
      step.dispatched = false
      step.lane = outcome.lane ?? null
      step.deferred = outcome.after === undefined || step.lane !== null ? 0 : turn.at + Math.ceil(outcome.after)
      if (mustSay(turn, step))
        emit(turn, { type: 'heartbeat', id: step.id, attempt: step.attempt, putOff: Math.max(step.deferred, turn.at) })
      return
    case 'failed':
      return attemptFailed(turn, step, reply, outcome)
  }
}

/**
 * Whether this reply repeats an earlier one that withdrew the attempt. The agent sends it again, to another node, if it did not learn that
 * the first was stored; by then the attempt may be elsewhere, for example in its queue, so the repetition says nothing about it.
 */
function isToldAgain({ returned }: Step, { startedAt, node }: Reply): boolean {
  return startedAt !== null && returned?.startedAt === startedAt && returned.node === node
}

/**
 * Whether the history must record that the attempt was put off. A step that is in no queue looks like one that was lost with its owner,
 * unless its delay is recorded. A suspect step records that it begins; if it was put off instead and its owner died, that record would
 * count as a death of its process.
 */
function mustSay({ at }: Turn, step: Step): boolean {
  if (step.begun) return true
  const queued = step.action !== null && step.action !== FINALIZE
  return queued && step.deferred > at && step.putOff === null && !isSuspect(step)
}

function suspended(turn: Turn, reply: Reply, outcome: Extract<Outcome, { kind: 'suspended' }>): void {
  const { kind: _, timeout, alarms, wary, page, ...rest } = outcome
  const { at } = turn
  const repeated = page && repeatedPage(turn, reply.step, page)
  if (repeated) return replied(turn, { ...reply, outcome: { kind: 'failed', error: repeated, retryable: false } })
  emit(turn, {
    type: 'stepSuspended',
    id: reply.step,
    ...rest,
    ...(wary && { notifyOnCancel: wary }),
    ...(timeout !== undefined && { until: at + timeout }),
    ...(alarms && { selfSignals: alarms.map(({ in: span, name, payload }) => ({ at: at + span, name, payload })) }),
    ...(page?.last && { total: page.offset + page.items.length }),
    ...(page?.digest !== undefined && { page: { offset: page.offset, digest: page.digest } }),
    ...trace(reply),
  })
  const batch = turn.state.batches.get(reply.step)
  if (batch && page?.offset === batch.next) batch.buffer = page.items
}

function childStopped(turn: Turn, message: Extract<Message, { type: 'child' }>): void {
  const child = turn.state.children.get(message.step)
  if (!child || child.status === 'stopped') return stale(turn)
  // The child itself was asked before it could be created; TASK_EXISTS only confirms that it exists.
  if (child.asked && message.refused?.code === 'TASK_EXISTS') return stale(turn)
  if (child.status === 'compensating') {
    if (succeeded(message.result)) {
      turn.posts.push({ task: child.task, message: { type: 'compensate' }, control: true })
      return
    }
    const at = turn.at
    const trace = { attempt: 1, startedAt: null, endedAt: at, node: null }
    const incomplete = leftBy(message.error) > 0 && { incomplete: true as const }
    return emit(turn, { type: 'undone', id: child.id, ...trace, ...incomplete })
  }
  const error = message.refused ? childRefused(message.refused) : message.error
  const output = message.output === undefined ? undefined : unveil(message.output)
  emit(turn, {
    type: 'childStopped',
    id: message.step,
    result: message.result,
    ...(output && { output: output.value }),
    ...(error !== undefined && { error }),
    ...(output && output.texts.length > 0 && { secretTexts: [...output.texts] }),
  })
}

/** Takes a plan, unless the task was paused, stopped or taken over meanwhile: then it is planned again when it goes on. */
function planned(turn: Turn, message: Extract<Message, { type: 'planned' | 'unplanned' }>): void {
  if (turn.state.status !== 'planning' || turn.state.closing) return stale(turn)
  if (message.type === 'planned') emit(turn, message)
  else emit(turn, { type: 'threw', error: message.error, rescue: 'fail' })
}

/** Handles the death of the former owner: attempts that it may have started, and that no work queue has, have an unknown outcome. */
function takeOver(turn: Turn, id: number): void {
  const step = turn.state.steps.get(id)
  if (!step || !isOutstanding(step) || step.dispatched || step.due > turn.at) return
  // An attempt that was put off is started through the queue; if the queue does not have it, it has not begun.
  if (step.putOff !== null) return
  const until = awaitedUntil(turn.state, step, turn.at)
  if (until > turn.at) return emit(turn, { type: 'heartbeat', id, attempt: step.attempt, awaited: until })
  // A suspect step records when its attempt begins. Without that record the attempt most probably did not begin, so it counts as a stop.
  lose(turn, step, isSuspect(step) && !step.begun ? 'stop' : 'death', 'the process that ran the attempt died')
}

/** Handles the report of a server that the agent process which runs the attempt is still connected to it. */
function runsElsewhere(turn: Turn, step: Step, operation: Operation): void {
  if (step.operation !== operation) return stale(turn)
  const until = awaitedUntil(turn.state, step, turn.at)
  // The attempt is past its complete-by, and its owner no longer takes part in it, so no other message would end it.
  if (until <= turn.at && step.given && step.awaited === null && step.dispatched) return expire(turn, step)
  if (until <= (step.awaited ?? turn.at)) return stale(turn)
  emit(turn, { type: 'heartbeat', id: step.id, attempt: step.attempt, awaited: until })
}

/**
 * Ends attempts that run elsewhere and were not reported for a lease, or are past their complete-by. Called after the messages of the turn
 * were applied, for one of them may be the reply.
 */
export function giveUpSilent(turn: Turn): void {
  for (const { step, late } of overdueElsewhere(turn.state, turn.at)) {
    if (late) expire(turn, step)
    else lose(turn, step, 'silence', 'nothing was heard of the process that ran the attempt since its server died')
  }
}

function expire(turn: Turn, step: Step): void {
  const error = { name: 'TriarchError', code: 'STEP_TIMEOUT', message: 'the attempt was not done by its complete-by' }
  const outcome = { kind: 'failed', error, retryable: true, unknown: true } as const
  attemptFailed(turn, step, unseen(turn, step, outcome), outcome)
}

/** Ends an attempt that would outlast this node, which is stopping; another node tries again. */
function cut(turn: Turn, id: number): void {
  const step = turn.state.steps.get(id)
  if (!step || !isOutstanding(step) || !step.dispatched) return
  lose(turn, step, 'stop', 'the node that ran the attempt was stopped')
}

function lose(turn: Turn, step: Step, lost: Loss, message: string): void {
  const error = { name: 'StepLostError', code: 'STEP_LOST', message }
  const outcome = { kind: 'failed', error, retryable: true, unknown: true, lost } as const
  attemptFailed(turn, step, unseen(turn, step, outcome), outcome)
}

/** A reply for an attempt whose end no agent reported. */
function unseen({ at }: Turn, { id, operation, attempt }: Step, outcome: Outcome): Reply {
  return { type: 'reply', step: id, operation, attempt, outcome, startedAt: null, endedAt: at, node: null }
}
