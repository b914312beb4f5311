import {
  type Attributes,
  type Context,
  context,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  type ErrorRecord,
  isTriarchError,
  type Middleware,
  middleware,
  type Next,
  type StepCall,
  type SubmitCall,
  type TelemetryEvents,
  type TelemetryListeners,
} from 'triarch'
import { errorType } from '../fault.ts'
import { carried, carry } from './carrier.ts'
import { agentOf, processed, sent } from './convention.ts'
import type { SpanIds } from './ids.ts'
import { type Origin, type Places, within } from './place.ts'

/** Tasks whose takeover is remembered, for steps whose request is not known here. */
const MOST_CLAIMS = 10_000

export interface TracingParts {
  tracer: Tracer
  ids: SpanIds
  places: Places
}

interface Making {
  name: string
  kind?: SpanKind
  /** When it began and ended (ms since the epoch). */
  from: number
  to: number
  attributes: Attributes
  links?: Link[]
  error: ErrorRecord | null
  failed: boolean
}

/** The spans of tasks: of submissions and attempts where they happen, of steps and tasks once they have ended. */
export class Tracing {
  readonly middleware: Middleware
  readonly listeners: TelemetryListeners
  readonly #parts: TracingParts
  readonly #claimed = new Map<string, number>()
  /** How often the node of this process was taken for dead. */
  #deaths = 0

  constructor(parts: TracingParts) {
    this.#parts = parts
    this.middleware = middleware('opentelemetry', {
      submit: (call, next) => this.#submit(call, next),
      run: (call, next) => this.#attempt('run', call, next),
      finalize: (call, next) => this.#attempt('run', call, next),
      undo: (call, next) => this.#attempt('undo', call, next),
      verify: (call, next) => this.#attempt('verify', call, next),
    })
    this.listeners = {
      'task:claimed': ({ task, at }) => this.#remember(task, at),
      'task:continued': (event) => this.#run(event),
      'task:stopped': (event) => this.#task(event),
      'step:retried': (event) => this.#lost(event),
      'step:ended': (event) => this.#step(event),
      'lease:lost': () => void this.#deaths++,
    }
  }

  async #submit(call: SubmitCall, next: Next): Promise<unknown> {
    const active = context.active()
    // Whoever has no span of its own may have been given one, by a request's header for instance.
    const above = trace.getSpanContext(active) ? active : carried(call.metadata, active)
    const attributes = {
      ...sent(call.workflow, 'submit', call.id),
      ...{ 'triarch.workflow': call.workflow, ...(call.id !== undefined && { 'triarch.task': call.id }) },
    }
    const span = this.#parts.tracer.startSpan(`submit ${call.workflow}`, { kind: SpanKind.PRODUCER, attributes }, above)
    const inside = trace.setSpan(above, span)
    carry(call.metadata, inside)
    return ending(span, inside, async () => {
      const id = await next()
      if (typeof id === 'string') span.setAttributes({ 'triarch.task': id, 'messaging.message.id': id })
      return id
    })
  }

  async #attempt(operation: 'run' | 'undo' | 'verify', call: StepCall, next: Next): Promise<unknown> {
    const { step, workflow, run, agent, action, name } = call
    const { taskId: task, stepId, attempt, metadata } = step
    const { tracer, ids, places } = this.#parts
    const origin: Origin = { task, workflow, run, traceparent: metadata.traceparent ?? null }
    const base = within(places.step(origin, stepId), carried(metadata))
    // A step that waited runs again in the same attempt: that is another span.
    const own = step.received === undefined ? places.attempt(origin, stepId, operation, attempt) : null
    const attributes = {
      ...(agent !== null && processed(agent, operation, { task, id: step.idempotencyKey })),
      ...{ 'triarch.task': task, 'triarch.workflow': workflow, 'triarch.step': stepId, 'triarch.action': action },
      ...{ 'triarch.step.name': name, 'triarch.operation': operation, 'triarch.attempt': attempt },
    }
    const kind = agent === null ? SpanKind.INTERNAL : SpanKind.CONSUMER
    const start = () => tracer.startSpan(`${operation} ${action}`, { kind, attributes }, base)
    const span = own ? ids.make(own.traceId, own.spanId, start) : start()
    const inside = trace.setSpan(base, span)
    // For code that no context of this thread reaches: an endpoint, a worker thread.
    carry(call.metadata, inside)
    const deaths = this.#deaths
    // Whoever took the attempt for lost has told of it under the same id.
    const isTold = () => own !== null && isLost(step.signal, this.#deaths > deaths)
    return ending(span, inside, async () => next(), isTold)
  }

  /** A process died in an attempt, and cannot tell of it any more: whoever goes on tells, so that what it left has a parent. */
  #lost(event: TelemetryEvents['step:retried']): void {
    const { operation, attempt, action, name, at, step, error, lost } = event
    if (lost !== 'death') return
    const { places } = this.#parts
    const own = places.attempt(event, step, operation, attempt)
    if (!own) return
    const attributes = {
      ...stepAttributes(event),
      ...(action !== null && processed(agentOf(action), operation, { task: event.task })),
      ...{ 'triarch.operation': operation, 'triarch.attempt': attempt, 'triarch.lost': lost },
    }
    const kind = kindOf(action, SpanKind.CONSUMER)
    const from = this.#claimed.get(event.task) ?? at
    const called = `${operation} ${action ?? name}`
    this.#make(own, places.step(event, step), { name: called, kind, from, to: at, attributes, error, failed: true })
  }

  #step(event: TelemetryEvents['step:ended']): void {
    const { at, ms, step, action, name, outcome, error, again } = event
    // Its span ended when it was done; the attempts to undo it are children of that.
    if (outcome === 'compensated') return
    const { places } = this.#parts
    const own = places.step(event, step)
    const task = places.task(event)
    const part = places.partOf(event)
    const from = ms === null ? (this.#claimed.get(event.task) ?? at) : at - ms
    const attributes = {
      ...stepAttributes(event),
      ...(action !== null && sent(agentOf(action), 'request', undefined)),
      ...{ 'triarch.outcome': outcome, ...(ms === null && { 'triarch.start': 'unknown' }) },
    }
    const above = part === null ? task : places.run(event)
    const links = part === 'step' && task ? [{ context: task }] : []
    const kind = kindOf(action, SpanKind.PRODUCER)
    const making = { name: action ?? name, kind, from, to: at, attributes, links, error, failed: outcome === 'error' }
    // Its span has ended before, with the step: what came of it since is another, within that.
    this.#make(again ? null : own, again ? own : above, making)
  }

  /** A run of a task that went on with another input: a child of the task's span, or what a trace of its own begins with. */
  #run(event: TelemetryEvents['task:continued']): void {
    const { at, ms, workflow } = event
    const { places } = this.#parts
    if (places.partOf(event) === 'run') return this.#ownRun(event, null)
    const making = {
      name: `continue ${workflow}`,
      from: at - (ms ?? 0),
      to: at,
      attributes: runAttributes(event),
      error: null,
      failed: false,
    }
    this.#make(null, places.task(event), making)
  }

  /** Linked to the task, whose own trace has its submission and its end. */
  #ownRun(event: TelemetryEvents['task:continued'], error: ErrorRecord | null, failed = false): void {
    const { at, ms, workflow, run } = event
    const { places } = this.#parts
    const task = places.task(event)
    const links = task ? [{ context: task }] : []
    const attributes = { ...runAttributes(event), 'triarch.run': run }
    const from = at - (ms ?? 0)
    this.#make(places.run(event), null, { name: `run ${workflow}`, from, to: at, attributes, links, error, failed })
  }

  #task(event: TelemetryEvents['task:stopped']): void {
    const { at, ms, task, workflow, version, outcome, error, traceparent, parent, failures, again } = event
    this.#claimed.delete(task)
    const { places } = this.#parts
    const own = places.task(event)
    const starter = parent === null ? null : places.task({ task: parent, workflow, traceparent })
    const root = places.root(event)
    // Without a trace of its submission, parent and child each have one of their own.
    const isChild = starter !== null && places.isDurable && root !== null
    const attributes = {
      ...processed(workflow, 'task', { task, id: task }),
      ...{ 'triarch.task': task, 'triarch.workflow': workflow, 'triarch.version': version },
      ...{ 'triarch.outcome': outcome, 'triarch.failures': failures },
      ...(parent !== null && { 'triarch.parent': parent }),
    }
    const last = ms === null ? null : places.run(event)
    const failed = outcome === 'error' || (outcome === 'compensated' && error !== null)
    if (last && !again) this.#ownRun(event, error, failed)
    const links = [
      ...(last ? [{ context: last }] : []),
      ...(starter && root === null ? [{ context: starter }] : []),
      ...(isChild && root ? [{ context: root }] : []),
    ]
    const making = {
      name: workflow,
      kind: SpanKind.CONSUMER,
      from: at - (ms ?? 0),
      to: at,
      attributes,
      links,
      error,
      failed,
    }
    this.#make(again ? null : own, again ? own : isChild ? starter : root, making)
  }

  #make(own: SpanContext | null, above: SpanContext | null, making: Making): void {
    const { tracer, ids, places } = this.#parts
    const { name, kind = SpanKind.INTERNAL, from, to, attributes, links = [], error, failed } = making
    const options = { kind, startTime: from, attributes, links }
    const start = () => tracer.startSpan(name, options, within(above))
    const span = own && places.isDurable ? ids.make(own.traceId, own.spanId, start) : start()
    if (error) span.setAttribute('error.type', errorType(error))
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR, ...(error && { message: error.message }) })
    span.end(to)
  }

  #remember(task: string, at: number): void {
    this.#claimed.delete(task)
    this.#claimed.set(task, at)
    const [oldest] = this.#claimed.keys()
    if (this.#claimed.size > MOST_CLAIMS && oldest !== undefined) this.#claimed.delete(oldest)
  }
}

function runAttributes({ task, workflow, version }: TelemetryEvents['task:continued']): Attributes {
  return { 'triarch.task': task, 'triarch.workflow': workflow, 'triarch.version': version }
}

/** A local step is nobody's message. */
function kindOf(action: string | null, kind: SpanKind): SpanKind {
  return action === null ? SpanKind.INTERNAL : kind
}

function stepAttributes({
  task,
  workflow,
  version,
  step,
  action,
  name,
}: TelemetryEvents['step:requested']): Attributes {
  return {
    ...{ 'triarch.task': task, 'triarch.workflow': workflow, 'triarch.version': version, 'triarch.step': step },
    ...{ 'triarch.step.name': name, ...(action !== null && { 'triarch.action': action }) },
  }
}

/**
 * Runs it inside of the span, and ends that. Of an error, only its type is told: its message may have what the history would veil, and is on
 * the span of the step. If by then another process has told of it (`isTold`), it is not exported.
 */
async function ending(
  span: Span,
  inside: Context,
  run: () => Promise<unknown>,
  isTold = () => false,
): Promise<unknown> {
  try {
    return await context.with(inside, run)
  } catch (error) {
    span.setAttribute('error.type', errorType(error))
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    if (isTold()) span.spanContext().traceFlags = TraceFlags.NONE
    span.end()
  }
}

/** Whether the attempt was given up as that of a dead process, which this one was taken for (`died`) or is connected by. */
function isLost({ aborted, reason }: AbortSignal, died: boolean): boolean {
  return aborted && (isTriarchError(reason, 'STEP_LOST') || (died && isTriarchError(reason, 'NODE_FENCED')))
}
