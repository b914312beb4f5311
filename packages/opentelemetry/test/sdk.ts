// The SDK as a process sets it up.
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BasicTracerProvider, type Sampler, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry, SpanIds } from '../src/index.ts'

export interface Sdk {
  otel: OpenTelemetry
  provider: BasicTracerProvider
}

export function sdk(url: string, options: OpenTelemetryOptions & { sampler?: Sampler; durable?: boolean } = {}): Sdk {
  const { sampler, durable = true, ...rest } = options
  const ids = new SpanIds()
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` })
  const provider = new BasicTracerProvider({
    ...(durable && { idGenerator: ids }),
    ...(sampler && { sampler }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return { otel: openTelemetry({ tracerProvider: provider, ids, ...rest }), provider }
}

/** For all code of the process, with the headers of the W3C. */
export function global(made: Sdk): Sdk {
  trace.setGlobalTracerProvider(made.provider)
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
  return made
}

/** Back to how a process begins. */
export function reset(): void {
  trace.disable()
  context.disable()
  propagation.disable()
}
