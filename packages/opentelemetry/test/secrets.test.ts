import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { testEngine } from 'triarch/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { advancing, leaksIn, secrecy } from '../../triarch/test/engine/secrecy.ts'
import { listeners, openTelemetry, SpanIds } from '../src/index.ts'
import { prometheus } from '../src/prometheus.ts'
import { reset } from './sdk.ts'

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
afterAll(reset)

it('no span and no metric has a secret, whatever way it went', async () => {
  const exporter = new InMemorySpanExporter()
  const ids = new SpanIds()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  const otel = openTelemetry({ tracerProvider: new BasicTracerProvider({ idGenerator: ids, spanProcessors }), ids })
  const { workflows, agents, play } = secrecy((mark) => `"q\\${mark}'é\n😀 %41+&<x>"`)
  const metrics = prometheus()
  await using engine = await testEngine({
    ...{ workflows, agents, operations: true, onError: () => undefined },
    ...{ middleware: [otel.middleware], telemetry: listeners(otel.telemetry, metrics.telemetry) },
  })
  const end = metrics.observe(engine.triarch)
  await play(engine.triarch, advancing(engine))
  const spans = exporter.getFinishedSpans()
  const told = spans.map(({ name, attributes, events, status }) => JSON.stringify({ name, attributes, events, status }))
  expect(told.filter((text) => leaksIn(text).length > 0)).toEqual([])
  expect(told.filter((text) => text.includes('error.type')).length).toBeGreaterThan(0)
  const text = await (await metrics.respond(new Request('http://localhost/metrics'))).text()
  expect(leaksIn(text)).toEqual([])
  expect(text).toContain('vault.login')
  end()
})
