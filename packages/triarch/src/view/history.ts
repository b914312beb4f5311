import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { newPlanState } from '../kernel/plan/plan.ts'
import type { Remark } from '../kernel/remark.ts'
import type { RecordedPolicy, RetryPlan } from '../kernel/step/policy.ts'
import type { AttemptTrace, CacheMark, Operation } from '../kernel/step/step.ts'
import { planView } from '../planning/preview.ts'
import type { CachedAt, HistoryAttempt, HistoryEvent, HistoryPolicy, HistoryRemark } from './event.ts'

type RecordedEvent<T extends TaskEvent['type']> = Extract<TaskEvent, { type: T }>
type ShownEvent<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>

/** Marks an event that is shown unchanged. It does not compile if the history has a field that the API has not. */
type Same<T extends TaskEvent['type'] & HistoryEvent['type']> =
  Exclude<keyof RecordedEvent<T>, keyof ShownEvent<T>> extends never
    ? RecordedEvent<T> extends ShownEvent<T>
      ? 'same'
      : never
    : never

/** The API's form of each event: with the API's names, from which the stored ones may differ, and without internal fields. */
const views: {
  readonly [T in TaskEvent['type']]: Same<T> | ((event: RecordedEvent<T>) => Omit<ShownEvent<T>, 'type'>)
} & {
  readonly [T in HistoryEvent['type']]: unknown
} = {
  submitted: ({ workflow, version, input, startAt, startBefore, completeBy, ...order }) => ({
    ...{ workflow, version, input },
    ...dated({ startAt, startBefore, completeBy }),
    ...(order.priority !== undefined && { priority: order.priority }),
    ...(order.tags && { tags: order.tags }),
    ...(order.share && { share: order.share }),
    ...(order.metadata && { metadata: order.metadata }),
    ...(order.exclusive && { exclusive: order.exclusive }),
    ...(order.after && { after: order.after }),
    ...(order.frozen && { frozen: order.frozen }),
    ...(order.parent && { parent: { task: order.parent.task, step: order.parent.step } }),
  }),
  thawed: ({ startAt, ...event }) => ({ ...dated({ startAt }), ...remark(event) }),
  predecessorStopped: ({ task, result }) => ({ task, ...(result !== null && { outcome: result }) }),
  planning: 'same',
  planned: ({ plan }) => ({ plan: planView(newPlanState(plan)) }),
  started: ({ completeBy }) => dated({ completeBy }),
  patched: 'same',
  progressed: 'same',
  returned: 'same',
  threw: ({ error, rescue }) => ({ error, rescue }),
  continueAsNewRequested: 'same',
  continuedAsNew: ({ input, fromStart, pendingSignals, left, ...event }) => ({
    ...{ input, pendingSignals },
    ...(fromStart && { fromStart }),
    ...(left !== undefined && { left }),
    ...remark(event),
  }),
  // The stored type of a task's signal is `event`.
  requestReceived: ({ request }) => ({ request: request.replace(/^event /, 'signal ') }),
  messageIgnored: ({ message, name, step, reason, ...event }) => ({
    message: message === 'event' ? 'signal' : message,
    ...(name !== undefined && { name }),
    ...(step !== undefined && { step }),
    cause: reason,
    ...remark(event),
  }),
  paused: ({ reason, step, error, ...event }) => ({
    cause: reason,
    ...(step !== undefined && { step }),
    ...failed(error),
    ...remark(event),
  }),
  resumed: remark,
  closing: ({ cause, compensate, error, ...event }) => ({
    ...{ cause, compensate },
    ...failed(error),
    // The reason of a cancellation is the message of its error.
    ...(cause === 'cancel' && error && { reason: error.message }),
    ...remark(event),
  }),
  compensating: 'same',
  adopted: ({ parent: { task, step } }) => ({ parent: { task, step } }),
  stopped: ({ result, output, error }) => ({
    outcome: result,
    ...(output !== undefined && { output }),
    ...failed(error),
  }),
  reset: ({ step, input, ...event }) => ({
    ...(step !== null && { step }),
    ...(input !== undefined && { input }),
    ...remark(event),
  }),
  stepRequested: ({ id, action, name, input, policy }) => ({ id, action, name, input, policy: policyOf(policy) }),
  stepCompleted: ({ id, output, by, ...trace }) => ({ id, output, ...(by && { by }), ...attempt(trace) }),
  attemptFailed: ({ id, operation, error, unknown, lost, next, ...trace }) => ({
    ...{ id, operation, error },
    ...(unknown && { unknown }),
    ...(lost && { lost }),
    ...then(next),
    ...attempt(trace),
  }),
  verifyRequested: ({ id, at }) => ({ id, at: new Date(at) }),
  fallbackRequested: ({ id, action, at }) => ({ id, action, at: new Date(at) }),
  verified: ({ id, answer, next }) => ({ id, answer, ...then(next) }),
  heartbeat: ({ id, attempt, progress, checkpoint }) => ({
    ...{ id, attempt },
    ...(progress !== undefined && { progress }),
    ...(checkpoint !== undefined && { checkpoint }),
  }),
  stepFailed: ({ id, error }) => ({ id, error }),
  plannedStepFailed: ({ id, error }) => ({ id, error }),
  stepSkipped: ({ id, output, cascade, by, ...event }) => ({
    id,
    ...(output !== undefined && { output }),
    ...(cascade && { cascade }),
    by,
    ...remark(event),
  }),
  stepCancelled: 'same',
  stepRetried: ({ id, input, at, ...event }) => ({
    id,
    ...(input !== undefined && { input }),
    at: new Date(at),
    ...remark(event),
  }),
  stepSuspended: ({ id, until, selfSignals, checkpoint, progress, notifyOnCancel, total, ...trace }) => ({
    id,
    ...dated({ until }),
    ...(selfSignals && { selfSignals: selfSignals.map((sent) => ({ ...sent, at: new Date(sent.at) })) }),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(progress !== undefined && { progress }),
    ...(notifyOnCancel && { onCancel: notifyOnCancel }),
    ...(total !== undefined && { total }),
    ...attempt(trace),
  }),
  stepSignalled: ({ id, name, payload, selfSignalAt, queued, ...event }) => ({
    ...{ id, name, payload },
    ...dated({ selfSignalAt }),
    ...(queued && { queued }),
    ...remark(event),
  }),
  undoRegistered: ({ id, name, policy }) => ({ id, name, ...(policy && { policy: policyOf(policy) }) }),
  undoRequested: ({ id, at }) => ({ id, at: new Date(at) }),
  stepCarried: ({ id, action, name, input, output, policy }) => ({
    ...{ id, action, name, input, output, policy: policyOf(policy) },
  }),
  undone: ({ id, by, incomplete, ...event }) => ({
    id,
    ...(by && { by }),
    ...(incomplete && { incomplete }),
    ...attempt(event),
    ...remark(event),
  }),
  timerStarted: ({ id, until }) => ({ id, until: new Date(until) }),
  timerFired: 'same',
  waitStarted: ({ id, name, until }) => ({ id, name, ...dated({ until }) }),
  waitTimedOut: 'same',
  waitCancelled: 'same',
  signalReceived: ({ name, payload, ...event }) => ({ name, payload, ...remark(event) }),
  childStarted: ({ id, task, workflow, version, mode, onCancel, undo }) => ({
    ...{ id, task, workflow, version, mode, onCancel, undo },
  }),
  childCarried: ({ id, task, workflow, mode, onCancel, undo }) => ({ id, task, workflow, mode, onCancel, undo }),
  childStopped: ({ id, result, output, error }) => ({
    ...{ id, outcome: result },
    ...(output !== undefined && { output }),
    ...failed(error),
  }),
  batchAdvanced: ({ id, ended, foreign, started, again, left, error }) => ({
    id,
    ...(ended && { ended: ended.map(([from, to, outcome]) => ({ from, to, outcome })) }),
    ...(foreign && { refused: foreign }),
    ...(started !== undefined && { started }),
    ...(again !== undefined && { retried: again }),
    ...(left !== undefined && { left }),
    ...failed(error),
  }),
  batchStopping: ({ id, error }) => ({ id, ...failed(error) }),
  locksRequested: 'same',
  lockRequested: ({ id, name, until }) => ({ id, name, ...dated({ until }) }),
  lockGranted: 'same',
  lockRefused: ({ id, error }) => ({ id, error }),
  lockReleased: 'same',
}

/** The API's form of an event. For an event of a newer version, it has the type only. */
export function historyEvent(event: TaskEvent): HistoryEvent {
  const { type } = event
  const view = views[type] as 'same' | ((event: TaskEvent) => object) | undefined
  return (view === 'same' ? event : { type, ...view?.(event) }) as HistoryEvent
}

function remark({ note, actor }: Remark): HistoryRemark {
  return { ...(note !== undefined && { reason: note }), ...(actor !== undefined && { actor }) }
}

function failed(error: ErrorRecord | undefined): { error?: ErrorRecord } {
  return error === undefined ? {} : { error }
}

function attempt({ attempt, startedAt, endedAt, node, cached }: AttemptTrace): HistoryAttempt {
  return {
    attempt,
    ...dated({ startedAt }),
    endedAt: new Date(endedAt),
    ...(node !== null && { node }),
    ...(cached && { cached: cachedAt(cached) }),
  }
}

export function cachedAt({ at, from, stale }: CacheMark): CachedAt {
  return { at: new Date(at), from, ...(stale && { stale }) }
}

function then(next: { operation: Operation; at: number } | undefined): { next?: { operation: Operation; at: Date } } {
  return next ? { next: { operation: next.operation, at: new Date(next.at) } } : {}
}

/** The given instants, as Dates. */
function dated<K extends string>(instants: Readonly<Record<K, number | null | undefined>>): { [name in K]?: Date } {
  const given = Object.entries<number | null | undefined>(instants).flatMap(([name, at]) =>
    at == null ? [] : [[name, new Date(at)]],
  )
  return Object.fromEntries(given) as { [name in K]?: Date }
}

function policyOf(policy: RecordedPolicy): HistoryPolicy {
  const { completeWithin, expiresIn, heartbeatWithin, retry, undoRetry, rescue, substitute, substituted } = policy
  const { semantics, priority, weight } = policy
  return {
    ...(completeWithin !== undefined && { attemptWithin: completeWithin }),
    ...(expiresIn != null && { stepWithin: expiresIn }),
    ...(heartbeatWithin != null && { heartbeatWithin }),
    ...(retry && { retry: retrying(retry) }),
    ...(undoRetry && { undoRetry: retrying(undoRetry) }),
    ...(rescue !== undefined && { rescue: substituted ? { skip: substitute } : rescue }),
    ...(semantics !== undefined && { semantics }),
    ...(priority !== undefined && { priority }),
    ...(weight !== undefined && { weight }),
  }
}

function retrying({ attempts, ...backoff }: RetryPlan): HistoryPolicy['retry'] & {} {
  return { attempts, backoff }
}
