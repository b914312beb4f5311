import type { TaskEvent } from '../kernel/event.ts'
import type { TaskState } from '../kernel/state.ts'
import type { WorkRequest } from '../store/port.ts'
import type { StepTelemetry, TaskTelemetry, TelemetryEvents, TelemetryName } from './catalogue.ts'
import type { Telemetry } from './outlet.ts'

/** Data of a step that telemetry needs at its end, when the state has dropped the step. */
interface StepLabels {
  action: string | null
  name: string
  /** When the step was requested; null: before its end had a listener here. */
  since: number | null
}
export type KnownSteps = Map<number, StepLabels>

/** The context in which the events of a record are reported. */
export interface StepReport {
  events: readonly TaskEvent[]
  /** The state after the events. */
  state: TaskState
  at: number
  node: string
  /** When this run of the task began; 0: it has not begun. */
  began: number
  /** The run of the task before the events. */
  run: number
  /** The steps before the events; null: ends of steps have no listener. */
  known: KnownSteps | null
}

type Teller<E> = {
  [N in TelemetryName]: {
    name: N
    make: (event: E, told: StepReport) => TelemetryEvents[N] | null
  }
}[TelemetryName]
type Tellers = { readonly [T in TaskEvent['type']]: Teller<Extract<TaskEvent, { type: T }>> | null }

/** The steps that may end, which the task's owner keeps from one turn to the next. */
export function knownSteps({ steps, compensable }: TaskState): KnownSteps {
  return new Map([...compensable, ...steps].map(([id, { action, name }]) => [id, { action, name, since: null }]))
}

/** Whether any of these events has a listener. Called for each record, so it avoids creating an iterator. */
export function isHeard(telemetry: Telemetry, events: readonly TaskEvent[]): boolean {
  for (let index = 0; index < events.length; index++) {
    const teller = tellers[(events[index] as TaskEvent).type]
    if (teller !== null && telemetry[teller.name].open) return true
  }
  return false
}

/** Reports the events of a durable record. */
export function narrate(telemetry: Telemetry, before: StepReport): void {
  let told = before
  for (const event of told.events) {
    const teller = tellers[event.type] as Teller<TaskEvent> | null
    if (teller && telemetry[teller.name].open) {
      const made = teller.make(event, told)
      if (made) telemetry[teller.name].tell(made as never)
    }
    if (told.known) follow(told.known, event, told)
    if (event.type === 'continuedAsNew') told = { ...told, run: event.nextId }
  }
}

/** Reports the requests that the record put into work queues. */
export function tellParked(
  telemetry: Telemetry,
  { state, at }: Pick<StepReport, 'state' | 'at'>,
  work: readonly WorkRequest[],
  node: string,
): void {
  const { id: task, workflow, version, metadata } = state
  for (const { step, operation, attempt, agent: queue, action, priority: rank, request } of work) {
    const about = { at, node, task, workflow, version, step, action, name: request.name, operation, attempt }
    telemetry['step:parked'].tell({
      ...about,
      queue,
      rank,
      traceparent: traceparentOf(metadata),
      run: request.run ?? 1,
    })
  }
}

function follow(known: KnownSteps, event: TaskEvent, { state, at }: StepReport): void {
  if (event.type === 'stepRequested') known.set(event.id, { action: event.action, name: event.name, since: at })
  else if (event.type === 'fallbackRequested')
    known.set(event.id, { name: '', since: null, ...known.get(event.id), action: event.action })
  else if (event.type === 'undoRegistered') known.set(event.id, { action: null, name: event.name, since: at })
  else if (ends.has(event.type) && 'id' in event) {
    if (!state.compensable.has(event.id) && !state.steps.has(event.id)) known.delete(event.id)
  } else if (event.type === 'reset' || event.type === 'continuedAsNew') {
    known.clear()
    for (const [id, step] of knownSteps(state)) known.set(id, step)
  }
}

const ends: ReadonlySet<TaskEvent['type']> = new Set<TaskEvent['type']>([
  ...(['stepCompleted', 'stepFailed', 'stepSkipped', 'stepCancelled', 'undone'] as const),
])

function ofTask({ state, at, node }: StepReport): TaskTelemetry {
  return { at, node, task: state.id, workflow: state.workflow, version: state.version }
}

/** The fields of a step event; null: the step is not known. */
function ofStep(told: StepReport, step: number): StepTelemetry | null {
  const { state, known } = told
  const found = known?.get(step) ?? state.steps.get(step) ?? state.compensable.get(step)
  return found ? stepTold(told, step, found) : null
}

function stepTold(
  told: StepReport,
  step: number,
  { action, name }: Pick<StepLabels, 'action' | 'name'>,
): StepTelemetry {
  const traceparent = traceparentOf(told.state.metadata)
  return { ...ofTask(told), step, action, name, traceparent, run: told.run }
}

/** The trace context in a submission's metadata, the only part that is reported. */
export function traceparentOf(metadata: Readonly<Record<string, string>> | null | undefined): string | null {
  return metadata?.traceparent ?? null
}

/** The trace and parent of a task, and its run. */
function origin({ state, run }: StepReport): { traceparent: string | null; parent: string | null; run: number } {
  return { traceparent: traceparentOf(state.metadata), parent: state.parent?.task ?? null, run }
}

function since({ began, at }: StepReport): number | null {
  return began > 0 ? at - began : null
}

type StepEnded = TelemetryEvents['step:ended']
type StepEnd = { id: number; error?: StepEnded['error'] }

function ended<E extends StepEnd>(outcome: StepEnded['outcome']) {
  const make = ({ id, error = null }: E, told: StepReport): StepEnded | null => {
    const step = ofStep(told, id)
    const since = told.known?.get(id)?.since ?? null
    const again = told.state.tried[id] !== undefined || told.events.some(({ type }) => type === 'reset')
    return step && { ...step, outcome, ms: since === null ? null : told.at - since, error, again }
  }
  return { name: 'step:ended' as const, make }
}

/** How each event of a history is reported; null: not by itself. */
const tellers: Tellers = {
  submitted: null, // reported by the creator of the task
  planning: null,
  planned: null,
  started: { name: 'task:started', make: (_, told) => ofTask(told) },
  paused: {
    name: 'task:paused',
    make: ({ reason, step = null, error = null }, told) => ({ ...ofTask(told), cause: reason, step, error }),
  },
  resumed: { name: 'task:resumed', make: (_, told) => ofTask(told) },
  compensating: { name: 'task:compensating', make: (_, told) => ofTask(told) },
  continuedAsNew: {
    name: 'task:continued',
    make: (_, told) => ({ ...ofTask(told), ms: since(told), ...origin(told) }),
  },
  reset: { name: 'task:rewound', make: ({ step }, told) => ({ ...ofTask(told), step }) },
  stopped: {
    name: 'task:stopped',
    make: ({ result, error = null }, told) => {
      const { state } = told
      const { failures, stops } = state
      return { ...ofTask(told), outcome: result, ms: since(told), failures, error, again: stops > 1, ...origin(told) }
    },
  },
  closing: null,
  messageIgnored: null,
  requestReceived: null,
  patched: null,
  progressed: null,
  returned: null,
  threw: null,
  continueAsNewRequested: null,
  stepRequested: {
    name: 'step:requested',
    make: ({ id, action, name }, told) => stepTold(told, id, { action, name }),
  },
  undoRegistered: null,
  stepCarried: null,
  childCarried: null,
  adopted: null,
  stepCompleted: ended('success'),
  attemptFailed: {
    name: 'step:retried',
    make: ({ id, operation, attempt, next, error, lost = null }, told) => {
      const step = next && ofStep(told, id)
      return step ? { ...step, operation, attempt, next: next.at, error, lost } : null
    },
  },
  verified: null,
  verifyRequested: null,
  fallbackRequested: {
    name: 'step:fallback',
    make: ({ id, action: fallback }, told) => {
      const step = ofStep(told, id)
      const action = told.state.steps.get(id)?.fallbackOf.at(-1) ?? null
      return step && { ...step, ...(action !== null && { action }), fallback }
    },
  },
  heartbeat: null,
  stepFailed: ended('error'),
  stepSkipped: ended('skipped'),
  plannedStepFailed: ended('error'),
  stepCancelled: ended('cancelled'),
  stepRetried: null,
  undoRequested: null,
  undone: ended('compensated'),
  stepSuspended: {
    name: 'step:suspended',
    make: ({ id, until = null }, told) => {
      const step = ofStep(told, id)
      return step && { ...step, until }
    },
  },
  stepSignalled: null,
  timerStarted: null,
  waitStarted: null,
  timerFired: null,
  signalReceived: null,
  waitTimedOut: null,
  childStarted: null,
  childStopped: null,
  batchAdvanced: {
    name: 'batch:moved',
    make: ({ id, started = 0, again = 0, ended = [] }, told) => {
      const count = ended.reduce((sum, [from, to]) => sum + to - from + 1, 0)
      return { ...ofTask(told), step: id, started, ended: count, again }
    },
  },
  batchStopping: {
    name: 'batch:stopping',
    make: ({ id, error = null }, told) => ({ ...ofTask(told), step: id, error }),
  },
  lockRequested: null,
  lockReleased: null,
  waitCancelled: null,
  locksRequested: null,
  lockGranted: null,
  lockRefused: null,
  thawed: null,
  predecessorStopped: null,
}
