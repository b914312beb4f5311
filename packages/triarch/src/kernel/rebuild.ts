import { apply } from './apply.ts'
import type { Decision, TaskEvent } from './event.ts'
import { dependents, newPlanState, type Plan } from './plan/plan.ts'
import { type Delivery, newState, type TaskState } from './state.ts'

export interface DatedEvent {
  at: number
  event: TaskEvent
}

/** A task rebuilt from its history: the state, and what replay feeds and compares the workflow's code with. */
export interface Rebuilt {
  state: TaskState
  /** Decisions of the code in the current run, in order. */
  decisions: Decision[]
  deliveries: Delivery[]
  /** When each delivery was recorded, which is what `task.now()` returned then. Index as in `deliveries`. */
  deliveredAt: number[]
  /** When the current run began. */
  startedAt: number
}

/** Folds a history (from its beginning, or from its last `continuedAsNew` with the submission before it). */
export function rebuild(id: string, history: readonly DatedEvent[]): Rebuilt {
  const rebuilt = newRebuilt(id)
  for (const dated of effective(history)) fold(rebuilt, dated)
  return rebuilt
}

/** Events folded in one piece of a rebuild. */
const PIECE = 100

/** The same in pieces, so that the caller can yield to other work between them. */
export function* rebuilding(id: string, history: readonly DatedEvent[]): Generator<void, Rebuilt> {
  const rebuilt = newRebuilt(id)
  for (const [index, dated] of effective(history).entries()) {
    if (index % PIECE === PIECE - 1) yield
    fold(rebuilt, dated)
  }
  return rebuilt
}

/** The rebuild of a task before any event is folded. */
export function newRebuilt(id: string): Rebuilt {
  return { state: newState(id), decisions: [], deliveries: [], deliveredAt: [], startedAt: 0 }
}

/** Folds the next event. Events that a rewind made void must be left out (`effective`). */
export function fold(rebuilt: Rebuilt, { at, event }: DatedEvent): void {
  const { state, deliveries, deliveredAt } = rebuilt
  apply(state, event, at, deliveries)
  while (deliveredAt.length < deliveries.length) deliveredAt.push(at)
  if (event.type === 'started') rebuilt.startedAt = at
  if (event.type === 'continuedAsNew') {
    rebuilt.decisions = []
    rebuilt.deliveries = []
    rebuilt.deliveredAt = []
    rebuilt.startedAt = at
  } else if (isDecision(event)) rebuilt.decisions.push(event)
}

const decisionTypes: ReadonlySet<string> = new Set<Decision['type']>([
  'stepRequested',
  'timerStarted',
  'waitStarted',
  'childStarted',
  'lockRequested',
  'lockReleased',
  'waitCancelled',
  'undoRegistered',
  'patched',
  'progressed',
  'returned',
  'threw',
  'continueAsNewRequested',
])

export function isDecision(event: TaskEvent): event is Decision {
  return decisionTypes.has(event.type)
}

/** The history without the events that a rewind made void. */
export function effective(history: readonly DatedEvent[]): DatedEvent[] {
  let kept: DatedEvent[] = []
  const attempts: Record<number, number> = {}
  let endId = 1
  for (const dated of history) {
    const { event } = dated
    endId = Math.max(endId, endOf(event))
    if (startsAttempt(event)) attempts[event.id] = (attempts[event.id] ?? 0) + 1
    if (event.type !== 'reset') {
      kept.push(dated)
      continue
    }
    const plan = kept.findLast(({ event }) => event.type === 'planned')?.event as { plan: Plan } | undefined
    if (event.step === null) kept = kept.filter(({ event }) => !isStop(event))
    else kept = plan ? cutPlan(kept, plan.plan, event.step) : cut(kept, event.step)
    const { children } = event
    if (children) kept = kept.filter(({ event }) => event.type !== 'childStopped' || !children.includes(event.id))
    kept.push({ at: dated.at, event: { ...event, attempts: { ...attempts }, endId } })
    for (const id of Object.keys(attempts).map(Number)) attempts[id] = (attempts[id] ?? 0) + 1
  }
  return kept
}

/** An id above every decision id that the event assigns. */
function endOf(event: TaskEvent): number {
  if (event.type === 'planned') return event.plan.first + event.plan.steps.length
  return 'id' in event ? (event.id ?? 0) + 1 : 1
}

/** Whether the event starts an attempt. No attempt of a step, of any operation, has a higher number than the count of these events. */
function startsAttempt(event: TaskEvent): event is TaskEvent & { id: number } {
  switch (event.type) {
    case 'stepRequested':
    case 'stepRetried':
    case 'verifyRequested':
    case 'fallbackRequested':
    case 'undoRequested':
    case 'stepSuspended':
    case 'stepSignalled':
      return true
    case 'attemptFailed':
    case 'verified':
      return event.next !== undefined
    default:
      return false
  }
}

/** Events that a rewind always keeps: messages from outside, and ends of pauses, because the pause itself may have begun before. */
const always: ReadonlySet<TaskEvent['type']> = new Set([
  'signalReceived',
  'requestReceived',
  'stepRetried',
  'resumed',
  'reset',
  'thawed',
  'predecessorStopped',
  'locksRequested',
])

/** Keeps everything before the outcome of the step, and of the later events only outcomes of what was requested before. */
function cut(events: DatedEvent[], step: number): DatedEvent[] {
  const outcome = events.findLastIndex(({ event }) => isOutcome(event) && event.id === step)
  if (outcome < 0) return events.filter(({ event }) => !isStop(event))
  const before = events.slice(0, outcome)
  const asked = new Set(before.flatMap(({ event }) => ('id' in event ? [event.id] : [])))
  const after = events.slice(outcome + 1).filter(({ event }) => {
    if (always.has(event.type)) return true
    // Children that exist must stay known, whatever their number.
    if (event.type === 'batchAdvanced' || event.type === 'batchStopping') return asked.has(event.id)
    // The step itself is requested again with its first action; other steps keep their fallback, which is the action that undoes them.
    if (event.type === 'fallbackRequested') return event.id !== step && asked.has(event.id)
    return isOutcome(event) && event.type !== 'stepFailed' && event.id !== step && asked.has(event.id)
  })
  return [...before.filter(({ event }) => !isStop(event)), ...after]
}

/** Makes the outcome of a planned step and all that depended on it void; other parts of the plan are kept. */
function cutPlan(events: readonly DatedEvent[], plan: Plan, step: number): DatedEvent[] {
  const known = events.filter(({ event }) => !isStop(event))
  if (!known.some(({ event }) => isOutcome(event) && event.id === step)) return known
  const state = newPlanState(plan)
  const gone = new Set([...dependents(state, step), ...state.finalizers])
  return known.filter(({ event }) => {
    if (!('id' in event)) return true
    return !gone.has(event.id ?? 0) && !(event.id === step && isOutcome(event))
  })
}

function isOutcome(event: TaskEvent): event is TaskEvent & { id: number } {
  switch (event.type) {
    case 'stepCompleted':
    case 'stepFailed':
    case 'stepSkipped':
    case 'timerFired':
    case 'waitTimedOut':
    case 'childStopped':
    case 'lockGranted':
    case 'lockRefused':
      return true
    default:
      return false
  }
}

function isStop(event: TaskEvent): boolean {
  switch (event.type) {
    case 'stopped':
    case 'closing':
    case 'threw':
    case 'returned':
    case 'continueAsNewRequested':
    case 'stepCancelled':
      return true
    default:
      return false
  }
}
