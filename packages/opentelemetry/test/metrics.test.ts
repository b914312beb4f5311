import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createServer } from '@triarch/server'
import { agent, type StoreFactory, Triarch, workflow } from 'triarch'
import { memory, testEngine } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prometheusFolder } from '../../../ops/test/prometheus.ts'
import { listeners, openTelemetry, SpanIds } from '../src/index.ts'
import { MOST_VALUES } from '../src/metric/bound.ts'
import { type MetricName, metrics, prometheusName } from '../src/metric/catalogue.ts'
import { LoopDelay, WINDOW } from '../src/metric/delay.ts'
import { Gauges } from '../src/metric/gauges.ts'
import { type Prometheus, prometheus } from '../src/prometheus.ts'
import { attributesOf, receiver } from './receiver.ts'
import { reset } from './sdk.ts'

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
afterAll(reset)

const shop = agent('shop', { circuitBreaker: {} })
const flaky = shop.action('flaky', {
  retry: { attempts: 2, backoff: { initial: '1s', jitter: false } },
  run(_: null, step) {
    if (step.attempt === 1) throw Object.assign(new Error('not yet'), { name: 'NotYet' })
  },
})
const order = workflow('order', {
  async run(_: null, task) {
    await task.run(flaky, null)
    await task.run('count', () => 1)
  },
})
const given = { workflows: [order], agents: [shop] }
const openText = { accept: 'application/openmetrics-text' }
const ask = (headers = {}) => new Request('http://localhost/metrics', { headers })

async function textOf(prom: Prometheus, headers = {}): Promise<string> {
  return (await prom.respond(ask(headers))).text()
}

describe('the metrics of OpenTelemetry', () => {
  it('reach a collector, with their units, buckets and attributes', async () => {
    await using collector = await receiver()
    const exporter = new OTLPMetricExporter({ url: `${collector.url}/v1/metrics` })
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    const meterProvider = new MeterProvider({ readers: [reader] })
    const otel = openTelemetry({ meterProvider })
    await using engine = await testEngine({ ...given, telemetry: otel.telemetry })
    const end = otel.observe(engine.triarch)
    await engine.submit(order, null)
    await engine.advance('1m')
    await meterProvider.forceFlush()
    const duration = collector.metrics.get('triarch.attempt.duration')
    expect(duration?.unit).toBe('s')
    const points = duration?.histogram?.dataPoints ?? []
    expect(points.map((point) => [attributesOf(point), point.count])).toEqual(
      expect.arrayContaining([
        [{ action: 'shop.flaky', operation: 'run', outcome: 'failed', 'error.type': 'NotYet' }, 1],
        [{ action: 'shop.flaky', operation: 'run', outcome: 'done', 'error.type': 'none' }, 1],
        [{ action: 'local', operation: 'run', outcome: 'done', 'error.type': 'none' }, 1],
      ]),
    )
    expect(points[0]?.explicitBounds).toEqual(metrics['triarch.attempt.duration'].buckets)
    const slots = collector.metrics.get('triarch.agent.slots')?.gauge?.dataPoints ?? []
    expect(slots.map(attributesOf)).toEqual([{ agent: 'shop' }])
    expect(collector.metrics.get('triarch.store.tasks')?.gauge?.dataPoints[0]).toMatchObject({ asDouble: 1 })
    end()
    await meterProvider.shutdown()
  })
})

describe('the metrics of Prometheus', () => {
  it('count what caches had, what they had not, and what was declared wrong', async () => {
    const bank = agent('bank')
    const cache = { ttl: '10s', jitter: 0, staleWhileRevalidate: '1h' } as const
    const rate = bank.action('rate', { cache, run: (_: null) => 1 })
    const quote = workflow('quote', { run: (_: null, task) => task.run(rate, null) })
    const prom = prometheus()
    await using engine = await testEngine({ workflows: [quote], agents: [bank], telemetry: prom.telemetry })
    for (let n = 0; n < 3; n++) {
      await engine.submit(quote, null)
      await engine.advance('6s')
    }
    const invalid = engine.triarch.caches.invalidate(rate)
    await engine.advance('1s')
    await invalid
    const text = await textOf(prom)
    expect(text).toContain('triarch_cache_miss_total{action="bank.rate"} 1\n')
    expect(text).toContain('triarch_cache_hit_total{action="bank.rate",from="memory",stale="false"} 1\n')
    expect(text).toContain('triarch_cache_hit_total{action="bank.rate",from="memory",stale="true"} 1\n')
    expect(text).toContain('triarch_cache_invalidated_total{by="action"} 1\n')
  })

  it('have names, types and help as promtool wants them', { timeout: 120_000 }, async () => {
    const prom = prometheus()
    await using engine = await testEngine({ ...given, telemetry: prom.telemetry })
    const end = prom.observe(engine.triarch)
    await engine.submit(order, null)
    await engine.advance('1m')
    const text = await textOf(prom)
    end()
    expect(text).toContain('triarch_task_submitted_total{workflow="order"} 1\n')
    expect(text).toContain('# TYPE triarch_task_submitted_total counter\n')
    expect(text).toContain('triarch_breaker_state{agent="shop",state="closed"} 1\n')
    expect(text).not.toContain(' # {')
    const promtool = join(prometheusFolder(), 'promtool')
    const { status, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('lead from a histogram to the trace of a task that it counted', async () => {
    const exporter = new InMemorySpanExporter()
    const ids = new SpanIds()
    const spanProcessors = [new SimpleSpanProcessor(exporter)]
    const otel = openTelemetry({ tracerProvider: new BasicTracerProvider({ idGenerator: ids, spanProcessors }), ids })
    const prom = prometheus()
    const telemetry = listeners(otel.telemetry, prom.telemetry)
    await using engine = await testEngine({ ...given, middleware: [otel.middleware], telemetry })
    await engine.submit(order, null)
    await engine.advance('1m')
    const [line] = (await textOf(prom, openText)).match(/^triarch_task_duration_seconds_bucket.* # \{.*$/m) ?? ['']
    const [, found] = /trace_id="(\w+)"/.exec(line) ?? []
    expect(
      exporter
        .getFinishedSpans()
        .find(({ name }) => name === 'order')
        ?.spanContext().traceId,
    ).toBe(found)
    expect(await textOf(prom, openText)).toMatch(/# EOF\n$/)
  })

  it('are served by a node, by the server to whoever it lets in, and by nobody else', async () => {
    await using prom = prometheus()
    await using triarch = new Triarch({ store: memory(), ...given, telemetry: prom.telemetry })
    const url = await prom.listen({ port: 0 })
    const own = await fetch(url)
    expect([own.status, own.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    expect((await fetch(url.replace('/metrics', '/'))).status).toBe(404)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
    await expect(prom.listen()).rejects.toMatchObject({ code: 'INVALID_OPTION' })

    const server = createServer(triarch, {
      metrics: prom,
      authenticate: ({ headers }) => (headers.get('authorization') === 'Bearer s3cret' ? { id: 'prometheus' } : null),
    })
    expect((await server.fetch(ask())).status).toBe(401)
    const answer = await server.fetch(ask({ authorization: 'Bearer s3cret' }))
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('# TYPE triarch_task_duration_seconds histogram')
    expect((await server.fetch(new Request('http://localhost/metrics', { method: 'POST' }))).status).toBe(405)
    expect((await createServer(triarch, { open: true }).fetch(ask())).status).toBe(404)
  })

  it('show the connections to the store, also while it does not answer', async () => {
    const pools = [{ name: 'calls', most: 4, busy: 3, waiting: 7 }]
    const inner = memory()
    let isGone = false
    const store: StoreFactory = (...given) => {
      const opened = inner(...given)
      const read = opened.counts.bind(opened)
      const counts = () => (isGone ? Promise.reject(new Error('gone')) : read())
      return Object.assign(opened, { counts, vitals: async () => ({ pools }) })
    }
    await using engine = await testEngine({ store, health: { cache: 0 } })
    for (const readable of [1, 0]) {
      isGone = readable === 0
      const prom = prometheus({ onError: () => undefined })
      const end = prom.observe(engine.triarch)
      const text = await textOf(prom)
      expect(text).toContain(`triarch_store_readable ${readable}\n`)
      for (const [name, value] of [['connections', 4], ['busy', 3], ['waiting', 7]]) // biome-ignore format: one line
        expect(text).toContain(`triarch_store_pool_${name}{pool="calls"} ${value}\n`)
      end()
    }
  })

  it('say that the store does not answer, and why goes to onError', async () => {
    const errors: unknown[] = []
    const prom = prometheus({ onError: (error) => errors.push(error) })
    const gone = async () => {
      throw new Error('gone')
    }
    const end = prom.observe({
      ...{ statistics: { get: gone }, breakers: { list: gone }, nodes: { list: gone, demand: gone } },
      ...{ tasks: { list: gone }, health: { check: gone } },
    })
    expect(await textOf(prom)).toContain('triarch_store_readable 0\n')
    expect(errors.map(String)).toEqual(['Error: gone', 'Error: gone'])
    end()
  })

  it('are answered while the store answers nothing, each scrape within its patience', async () => {
    const asked: string[] = []
    const hangs = (what: string) => () => {
      asked.push(what)
      return new Promise<never>(() => undefined)
    }
    const observed = {
      ...{ statistics: { get: hangs('statistics') }, breakers: { list: hangs('breakers') } },
      nodes: { list: hangs('nodes'), demand: hangs('demand') },
      ...{ tasks: { list: hangs('tasks') }, health: { check: hangs('health') } },
    }
    const gauges = new Gauges(observed, () => undefined, 10)
    const readable = async () => (await gauges.read()).find(({ name }) => name === 'triarch.store.readable')?.value
    expect(await Promise.all([readable(), readable(), readable()])).toEqual([0, 0, 0])
    expect(await readable()).toBe(0)
    expect(asked.sort()).toEqual(['breakers', 'demand', 'health', 'nodes', 'statistics', 'tasks'])
    gauges.close()
  })

  it('by name have a bounded number of values too: what is beyond the bound is added up', async () => {
    const schedulers = Array.from({ length: MOST_VALUES + 2 }, (_, index) => ({
      ...{ workflow: `w-${1_000 + index}`, version: '1', waiting: 1, running: 0 },
      ...{ has: { slots: 0, processes: 0 }, wanted: { slots: 1, processes: 1 } },
    }))
    await using engine = await testEngine({})
    const { triarch } = engine
    const gauges = new Gauges(
      {
        ...{ statistics: triarch.statistics, breakers: triarch.breakers, tasks: triarch.tasks, health: triarch.health },
        nodes: { list: () => triarch.nodes.list(), demand: async () => ({ agents: [], schedulers }) },
      },
      () => undefined,
    )
    const backlogs = (await gauges.read()).filter(({ name }) => name === 'triarch.scheduler.backlog')
    gauges.close()
    expect(backlogs).toHaveLength(MOST_VALUES + 1)
    expect(backlogs.at(-1)).toMatchObject({ labels: { workflow: 'other' }, value: 2 })
  })

  it('have a bounded number of values for each attribute, whatever is submitted', async () => {
    const prom = prometheus()
    for (let i = 0; i < MOST_VALUES * 2; i++) {
      const event = { at: 0, node: null, task: `t-${i}`, workflow: `w-${i}`, version: '1' }
      prom.telemetry['task:submitted']?.({ ...event, startAt: null, schedule: null, parent: null })
      prom.telemetry['leadership:taken']?.({ at: 0, node: 'n', name: `tenant-${i}`, token: i })
    }
    const text = await textOf(prom)
    expect(text.match(/^triarch_task_submitted_total\{/gm)).toHaveLength(MOST_VALUES + 1)
    expect(text).toContain(`triarch_task_submitted_total{workflow="other"} ${MOST_VALUES}\n`)
    expect(text.match(/^triarch_leadership_taken_total\{/gm)).toHaveLength(MOST_VALUES + 1)
  })
})

describe('the catalogue of metrics', () => {
  it('has no attribute that is an id', () => {
    const all = Object.values(metrics).flatMap(({ attributes }) => attributes)
    for (const id of ['task', 'node', 'step', 'schedule', 'id']) expect(all).not.toContain(id)
  })

  it('gives each metric a name of its own in Prometheus', () => {
    const names = (Object.keys(metrics) as MetricName[]).map(prometheusName)
    expect(new Set(names).size).toBe(names.length)
  })
})

it('listeners tell each, whatever the others throw', () => {
  const told: string[] = []
  const both = listeners(
    {
      commit: () => {
        throw new Error('first')
      },
    },
    { commit: () => told.push('second') },
  )
  expect(() => both.commit?.({} as never)).toThrow('first')
  expect(told).toEqual(['second'])
})

describe('the delay of the event loop', () => {
  const monitored = () => {
    const told = { count: 0, max: 0, enable: () => true, disable: () => true, reset: () => {} }
    told.reset = () => {
      told.count = 0
    }
    const delay = new LoopDelay(told as never)
    const late = (seconds: number) => Object.assign(told, { count: 1, max: seconds * 1e9 })
    return { delay, late }
  }

  it('is the same for two who read, however close to each other', () => {
    const { delay, late } = monitored()
    late(0.5)
    expect(delay.read(10_000)).toBe(0.5)
    late(0.1)
    expect(delay.read(10_005)).toBe(0.5)
    late(0.2)
    expect(delay.read(69_000)).toBe(0.5)
  })

  it('is over after a minute, for who looks more seldom after one look', () => {
    const { delay, late } = monitored()
    late(0.5)
    delay.read(10_000)
    late(0.1)
    expect(delay.read(10_000 + WINDOW + 1)).toBe(0.1)
    late(0.2)
    expect(delay.read(1_000_000)).toBe(0.2)
  })
})

it('circuit breakers are counted beyond the first page', async () => {
  const prom = prometheus()
  const info = (name: string, state: string) => ({ name, agent: 'shop', state, keyed: false })
  const end = prom.observe({
    statistics: { get: async () => ({ tasks: 0, ready: 0, inbox: 0 }) as never },
    nodes: { list: async () => [], demand: async () => ({ agents: [], schedulers: [] }) },
    tasks: { list: async () => ({ tasks: [] }) },
    health: { check: async () => ({ checks: [] }) as never },
    breakers: {
      list: async ({ cursor } = {}) =>
        (cursor === undefined
          ? { breakers: [info('shop#a', 'closed')], next: 'shop#a' }
          : { breakers: [info('shop#b', 'open')] }) as never,
    },
  })
  const text = await textOf(prom)
  end()
  expect(text).toContain('triarch_breaker_state{agent="shop",state="closed"} 1\n')
  expect(text).toContain('triarch_breaker_state{agent="shop",state="open"} 1\n')
})
