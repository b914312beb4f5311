// Where the spans of a task are: ids that every process works out by itself.
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceparent } from './carrier.ts'
import { derived, type SpanIds } from './ids.ts'

/** What a task is known by wherever a span of it is made. */
export interface Origin {
  task: string
  workflow: string
  traceparent: string | null
  /** Which of its runs, by the number with which the steps of that begin; without it, none is asked for. */
  run?: number
}

/** What of a task has a trace of its own. */
export type Part = 'run' | 'step'

export interface PlaceOptions {
  tracer: Tracer
  ids: SpanIds
  /** Workflows whose tasks are of many traces. */
  long: ReadonlyMap<string, Part>
}

export class Places {
  readonly #options: PlaceOptions
  /** Whether the SDK takes its ids from us; null: nobody has asked yet. */
  #isDurable: boolean | null = null

  constructor(options: PlaceOptions) {
    this.#options = options
  }

  /** Whether spans have the ids that they are given. Otherwise all are children of the span that submitted the task. */
  get isDurable(): boolean {
    if (this.#isDurable !== null) return this.#isDurable
    const [traceId, spanId] = [derived(32, 'probe'), derived(16, 'probe')]
    const { tracer, ids } = this.#options
    const made = asked(ids.make(traceId, spanId, () => tracer.startSpan('probe', { root: true })))
    // No SDK yet: what it will do is not known.
    if (/^0+$/.test(made.spanId)) return false
    this.#isDurable = made.spanId === spanId && made.traceId === traceId
    return this.#isDurable
  }

  /** What of the task has a trace of its own; null: nothing, it is all one. */
  partOf({ workflow }: Origin): Part | null {
    return this.isDurable ? (this.#options.long.get(workflow) ?? null) : null
  }

  /** The span that submitted it, or what a task without one begins its own trace with; null: it is in no trace. */
  root(origin: Origin): SpanContext | null {
    return parseTraceparent(origin.traceparent)
  }

  task(origin: Origin): SpanContext | null {
    if (!this.isDurable) return this.root(origin)
    const { traceId, traceFlags } = this.root(origin) ?? this.#rooted(origin.task, 'task', origin.task)
    return { traceId, traceFlags, spanId: derived(16, 'task', traceId, origin.task) }
  }

  /** Of a task that has a trace for each of its runs; null: it has not. */
  run(origin: Origin): SpanContext | null {
    const { task, run = 1 } = origin
    if (this.partOf(origin) !== 'run') return null
    const own = this.#rooted(task, 'run', task, run)
    return { ...own, spanId: derived(16, 'run', own.traceId) }
  }

  step(origin: Origin, step: number): SpanContext | null {
    const task = this.task(origin)
    if (!task || !this.isDurable) return task
    const isOwn = this.partOf(origin) === 'step'
    const withinSpan = isOwn ? this.#rooted(origin.task, 'step', origin.task, step) : (this.run(origin) ?? task)
    return { ...withinSpan, spanId: derived(16, 'step', task.traceId, origin.task, step) }
  }

  attempt(origin: Origin, step: number, operation: string, attempt: number): SpanContext | null {
    const above = this.step(origin, step)
    if (!above || !this.isDurable) return null
    return { ...above, spanId: derived(16, 'attempt', above.traceId, origin.task, step, operation, attempt) }
  }

  /**
   * A trace that nobody's led to has its id by what it is of. The sampler is asked with it: one that goes by the id says the same
   * everywhere.
   */
  #rooted(task: string, ...parts: readonly (string | number)[]): SpanContext {
    const traceId = derived(32, ...parts)
    const { tracer, ids } = this.#options
    const probe = ids.make(traceId, derived(16, 'probe', task), () => tracer.startSpan('probe', { root: true }))
    return { ...asked(probe), traceId }
  }
}

/**
 * What a span that is made only to ask the SDK was given. It ends at once, for a processor may keep what has begun; nobody exports it, for it
 * is not sampled any more by then.
 */
function asked(probe: Span): SpanContext {
  const own = probe.spanContext()
  const given = { ...own }
  own.traceFlags = TraceFlags.NONE
  probe.end()
  return given
}

/** A context in which this span of elsewhere is the parent; null: none is. */
export function within(span: SpanContext | null, base: Context = ROOT_CONTEXT): Context {
  return span ? trace.setSpanContext(base, span) : trace.deleteSpan(base)
}

export function isSampled(span: SpanContext | null): span is SpanContext {
  return span !== null && (span.traceFlags & TraceFlags.SAMPLED) !== 0
}
