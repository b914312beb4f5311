// A program of a user's: node telemetry.mjs LINE, where LINE is the major version of the SDK
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { openTelemetry, SpanIds } from '@triarch/opentelemetry'
import { agent, Triarch, workflow } from 'triarch'
import { memory } from 'triarch/testing'

const ids = new SpanIds()
const { exporter, tracerProvider } = await tracing()
const metrics = new InMemoryMetricExporter(1)
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const otel = openTelemetry({ tracerProvider, meterProvider, ids })
const service = agent('service')
const next = service.action('next', { run: (n) => n + 1 })
const flow = workflow('flow', { run: (n, task) => task.run(next, n) })
const triarch = new Triarch({
  ...{ store: memory(), workflows: [flow], agents: [service], notices: false },
  ...{ middleware: [otel.middleware], telemetry: otel.telemetry },
})
await triarch.start()
const task = await triarch.submit(flow, 41)
const result = await task.result()
await triarch.stop()
await meterProvider.forceFlush()
const spans = exporter.getFinishedSpans()
const traces = new Set(spans.map((span) => span.spanContext().traceId))
const counted = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
const names = new Set(counted.map(({ descriptor }) => descriptor.name))
console.log(result, spans.length > 2, traces.size, names.has('triarch.attempt.duration'))

async function tracing() {
  if (process.argv[2] === '2') {
    const sdk = await import('@opentelemetry/sdk-trace-base')
    const exporter = new sdk.InMemorySpanExporter()
    const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)]
    return { exporter, tracerProvider: new sdk.BasicTracerProvider({ idGenerator: ids, spanProcessors }) }
  }
  const sdk = await import('@opentelemetry/sdk-trace')
  const exporter = new sdk.InMemorySpanExporter()
  const spanProcessors = [new sdk.SimpleSpanProcessor({ exporter })]
  return { exporter, tracerProvider: new sdk.TracerProvider({ idGenerator: ids, spanProcessors }) }
}
