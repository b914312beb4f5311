import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import { type Middleware, type TelemetryListeners, TriarchError } from 'triarch'
import { listeners } from './listeners.ts'
import { Gauges, type Observed } from './metric/gauges.ts'
import { MeterSink } from './metric/meter.ts'
import { recorder } from './metric/recorder.ts'
import { examplesOf } from './trace/example.ts'
import { SpanIds } from './trace/ids.ts'
import { type Part, Places } from './trace/place.ts'
import { Tracing } from './trace/tracing.ts'

const SCOPE = '@triarch/opentelemetry'

/**
 * What is told, and to whom.
 * @example const options: OpenTelemetryOptions = { longTasks: { subscription: 'run', claim: 'step' } }
 */
export interface OpenTelemetryOptions {
  /** Makes the spans; the global one. */
  tracerProvider?: TracerProvider
  /** Takes the metrics; the global one. */
  meterProvider?: MeterProvider
  /** The ids that the tracer provider was given; ones of its own, to be given as `idGenerator`. */
  ids?: SpanIds
  /**
   * Workflows whose tasks take so long that one trace would not be kept together, and what of them has a trace of its own, linked to the
   * task's: each `run`, for tasks that continue as new, or each `step`. A list of names means steps; none.
   */
  longTasks?: readonly string[] | Readonly<Record<string, 'run' | 'step'>>
  /** Hears why the store could not be looked at for a metric; nobody. */
  onError?: (error: unknown) => void
}

/**
 * What a `Triarch` is given so that OpenTelemetry hears of it.
 * @example
 * const otel: OpenTelemetry = openTelemetry()
 * const { middleware, telemetry } = otel
 * const triarch = new Triarch({ store: sqlite('shop.db'), middleware: [middleware], telemetry })
 */
export interface OpenTelemetry {
  /** For `middleware`: submissions and attempts as spans, and the context in which the code of an attempt runs. */
  readonly middleware: Middleware
  /** For `telemetry`: the spans of tasks and steps, and the metrics. With others: `listeners(otel.telemetry, yours)`. */
  readonly telemetry: TelemetryListeners
  /** For the SDK, as `idGenerator`: without it, all spans of a task are children of its submission. */
  readonly ids: SpanIds
  /**
   * Looks at the store whenever metrics are collected (every 5 s at most), for what waits there. Gives what ends that.
   * @example const end = otel.observe(triarch)
   */
  observe(triarch: Observed): () => void
}

/**
 * Traces and metrics of an engine for OpenTelemetry. Costs nothing until it is given to one. Throws UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const otel = openTelemetry()
 * const { middleware, telemetry } = otel
 * const triarch = new Triarch({ store: sqlite('shop.db'), middleware: [middleware], telemetry })
 * otel.observe(triarch)
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  const long = longTasksOf(options)
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options
  const { ids = new SpanIds(), onError = () => undefined } = options
  const tracer = tracerProvider.getTracer(SCOPE)
  const places = new Places({ tracer, ids, long })
  const tracing = new Tracing({ tracer, ids, places })
  const sink = new MeterSink(meterProvider.getMeter(SCOPE))
  return {
    ids,
    middleware: tracing.middleware,
    telemetry: listeners(tracing.listeners, recorder(sink, examplesOf(places))),
    observe(triarch) {
      const gauges = new Gauges(triarch, onError)
      const end = sink.observe(gauges)
      return () => {
        end()
        gauges.close()
      }
    },
  }
}

const known = ['tracerProvider', 'meterProvider', 'ids', 'longTasks', 'onError']

function longTasksOf(options: OpenTelemetryOptions): ReadonlyMap<string, Part> {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new TriarchError('UNKNOWN_OPTION', `openTelemetry: there is no option "${unknown.slice(0, 100)}"`)
  const { longTasks = {}, ids } = options
  if (ids !== undefined && !(ids instanceof SpanIds))
    throw new TriarchError('INVALID_OPTION', 'openTelemetry: ids must be SpanIds')
  const isMap = typeof longTasks === 'object' && longTasks !== null
  const all = Object.entries(isMap ? longTasks : {})
  const given: unknown[][] = Array.isArray(longTasks) ? longTasks.map((name) => [name, 'step']) : all
  if (!isMap || given.some(([name, part]) => typeof name !== 'string' || (part !== 'run' && part !== 'step')))
    throw new TriarchError(
      'INVALID_OPTION',
      'openTelemetry: longTasks must be names of workflows, or what of each has a trace of its own: run or step',
    )
  return new Map(given as [string, Part][])
}
