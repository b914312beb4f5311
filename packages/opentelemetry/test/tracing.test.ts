import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { agent, PermanentError, workflow } from 'triarch'
import { type TestOptions, testEngine, VirtualEnvironment } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stage } from '../../triarch/test/engine/harness.ts'
import { scratch } from '../../triarch/test/engine/scratch.ts'
import { type OpenTelemetryOptions, openTelemetry, SpanIds } from '../src/index.ts'
import { reset } from './sdk.ts'

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
afterAll(reset)

function traced(options: OpenTelemetryOptions & { sampler?: Sampler; durable?: boolean } = {}) {
  const { sampler, durable = true, ...rest } = options
  const exporter = new InMemorySpanExporter()
  const ids = new SpanIds()
  const tracerProvider = new BasicTracerProvider({
    ...(durable && { idGenerator: ids }),
    ...(sampler && { sampler }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const otel = openTelemetry({ tracerProvider, ids, ...rest })
  const given = { middleware: [otel.middleware], telemetry: otel.telemetry }
  return { given, tracerProvider, spans: () => exporter.getFinishedSpans() }
}

/** Each span by the names above it, and its own. */
function paths(spans: readonly ReadableSpan[]): string[] {
  const known = new Map(spans.map((span) => [span.spanContext().spanId, span]))
  const pathOf = (span: ReadableSpan): string => {
    const above = span.parentSpanContext?.spanId
    const found = above === undefined ? undefined : known.get(above)
    const start = above === undefined ? '' : found ? `${pathOf(found)} > ` : 'MISSING > '
    return start + span.name
  }
  return spans.map(pathOf).sort()
}

const twice = (path: string) => [path, path]

const shop = agent('shop')
const flaky = shop.action('flaky', {
  retry: { attempts: 2, backoff: { initial: '1s', jitter: false } },
  run(_: null, step) {
    if (step.attempt === 1) throw Object.assign(new Error('not yet'), { name: 'NotYet' })
  },
  undo: () => undefined,
})
const refuses = shop.action('refuses', {
  run: () => {
    throw new PermanentError('card 4111 refused')
  },
})
const waits = shop.action('waits', {
  run: (_: null, step, received) => received ?? step.suspend({ signals: [{ name: 'go', in: '1m' }] }),
})
const item = workflow('item', { run: async (n: number) => n })
const order = workflow('order', {
  async run(_: null, task) {
    await task.run(flaky, null)
    await task.sleep('1h')
    await task.call(item, 1)
  },
})
const undone = workflow('undone', {
  rescue: 'compensate',
  async run(_: null, task) {
    await task.run(flaky, null)
    await task.run(refuses, null)
  },
})
const patient = workflow('patient', { run: (_: null, task) => task.run(waits, null) })
const again = workflow('again', {
  run: async (n: number, task) => (n > 0 ? task.continueAsNew(n - 1) : n),
})
const engineOf = (given: Partial<TestOptions>) =>
  testEngine({ workflows: [order, item, undone, patient, again], agents: [shop], ...given })

describe('the trace of a task', () => {
  it('has its submission, its steps, all their attempts, and its children', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf(given)
    await engine.submit(order, null, { id: 'o-1' })
    await engine.advance('2h')
    const above = 'submit order > order'
    expect(paths(spans())).toEqual(
      [
        ...['submit order', above, `${above} > shop.flaky`, `${above} > item`],
        ...[`${above} > shop.flaky > run shop.flaky`, `${above} > shop.flaky > run shop.flaky`],
      ].sort(),
    )
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
    const task = spans().find(({ name }) => name === 'order')
    expect(task?.duration[0]).toBe(3_601)
    expect(task?.attributes).toMatchObject({ 'triarch.task': 'o-1', 'triarch.outcome': 'success' })
  })

  it('is not told again when the task is read back into memory', async () => {
    using file = scratch()
    const shared = { store: file.store, environment: new VirtualEnvironment() }
    const { given, spans } = traced()
    const first = await engineOf({ ...given, ...shared })
    await first.submit(order, null, { id: 'o-1' })
    await first.advance('10m')
    const before = spans().length
    await first.stop()
    await using second = await engineOf({ ...given, ...shared })
    await second.advance('10m')
    expect(spans().length).toBe(before)
    await second.advance('2h')
    expect(paths(spans()).filter((path) => path.endsWith('order'))).toEqual(['submit order', 'submit order > order'])
  })

  it('has what went wrong, but messages only as the history has them, and what undid it', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf(given)
    await engine.submit(undone, null, { id: 'u-1' })
    await engine.advance('1m')
    const above = 'submit undone > undone'
    expect(paths(spans())).toContain(`${above} > shop.flaky > undo shop.flaky`)
    const attempt = spans().find(({ name }) => name === 'run shop.refuses')
    expect(attempt?.status).toEqual({ code: 2 })
    expect(attempt?.attributes['error.type']).toBe('PermanentError')
    expect(attempt?.events).toEqual([])
    expect(spans().find(({ name }) => name === 'shop.refuses')?.status.code).toBe(2)
  })

  it('has an id once only: what ends again, tried again or undone, is a span of its own within the first', async () => {
    const { given, spans } = traced()
    const ill = { is: true }
    const pay = shop.action('pay', {
      retry: { attempts: 1 },
      run: () => {
        if (ill.is) throw new PermanentError('no')
      },
    })
    const child = workflow('child', { run: async (_: null, task) => task.run(flaky, null) })
    const parent = workflow('parent', {
      rescue: 'compensate',
      run: async (_: null, task) => {
        await task.call(child, null)
        throw new PermanentError('parent gives up')
      },
    })
    const single = workflow('single', { rescue: 'fail', run: async (_: null, task) => task.run(pay, null) })
    await using engine = await engineOf({ ...given, workflows: [parent, child, single] })
    await engine.submit(parent, null, { id: 'p-1' })
    await engine.submit(single, null, { id: 's-1' })
    await engine.advance('1m')
    for (const options of [{}, { input: null }]) {
      await engine.tasks.get('s-1').retry(options)
      await engine.advance('1m')
      ill.is = false
    }
    const ids = spans().map((span) => span.spanContext().spanId)
    expect(ids.length).toBe(new Set(ids).size)
    expect(paths(spans()).filter((path) => path.endsWith('child'))).toEqual([
      'submit parent > parent > child',
      'submit parent > parent > child > child',
    ])
  })

  it('has an id once only: a process that was taken for dead leaves the span of its attempt to whoever went on', async () => {
    const { given, spans } = traced()
    const entered: PromiseWithResolvers<void>[] = []
    const slow = shop.action('slow', {
      run: async () => {
        const one = Promise.withResolvers<void>()
        if (entered.push(one) === 1) await one.promise
      },
    })
    const late = workflow('late', { run: async (_: null, task) => task.run(slow, null) })
    const timing = { lease: '10s', sweep: '1s', poll: '1s' } as const
    await using staged = await stage({ ...given, ...timing, workflows: [late], agents: [shop] })
    const { engine, store } = staged
    await engine.submit(late, null, { id: 'l-1' })
    await engine.advance('1s')
    const [node] = await engine.triarch.nodes.list()
    await store.declareDead([node?.id ?? ''])
    await engine.advance('1m')
    entered[0]?.resolve()
    await engine.advance('1m')
    const attempts = spans().filter(({ name }) => name === 'run shop.slow')
    expect(attempts.map(({ attributes }) => attributes['triarch.lost'])).toEqual(['death', undefined])
    const ids = spans().map((span) => span.spanContext().spanId)
    expect(ids.length).toBe(new Set(ids).size)
  })

  it('says that an order failed which was undone for it, and why', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf(given)
    await engine.submit(undone, null)
    await engine.advance('1m')
    const task = spans().find(({ name }) => name === 'undone')
    expect(task?.attributes['triarch.outcome']).toBe('compensated')
    expect(task?.status).toMatchObject({ code: 2, message: expect.stringContaining('shop.refuses') })
  })

  it('has a span for each time that a step which waited ran', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf(given)
    await engine.submit(patient, null)
    await engine.advance('2m')
    expect(paths(spans()).filter((path) => path.endsWith('> run shop.waits'))).toHaveLength(2)
    expect(new Set(spans().map((span) => span.spanContext().spanId)).size).toBe(spans().length)
  })

  it('has each run of a task that continues with another input', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf(given)
    await engine.submit(again, 2)
    await engine.settle()
    expect(paths(spans()).filter((path) => path.endsWith('continue again'))).toEqual([
      'submit again > again > continue again',
      'submit again > again > continue again',
    ])
  })

  it('begins with the task where no submission was traced, and every process finds it', async () => {
    const { given, spans } = traced()
    await using engine = await engineOf({ ...given })
    await engine.triarch.schedules.get('nightly').register({ workflow: order, input: null, every: '1h' })
    await engine.advance('150m')
    const found = paths(spans()).filter((path) => !path.startsWith('MISSING'))
    const own = ['item', 'order', 'order > shop.flaky', ...twice('order > shop.flaky > run shop.flaky')]
    expect(found).toEqual(own)
    const [child, parent] = ['item', 'order'].map((name) => spans().find((span) => span.name === name))
    expect(child?.links.map((link) => link.context.spanId)).toEqual([parent?.spanContext().spanId])
  })

  it('is made of traces of each step, linked to it, if the task is said to be long', async () => {
    const { given, spans } = traced({ longTasks: ['order'] })
    await using engine = await engineOf(given)
    await engine.submit(order, null)
    await engine.advance('2h')
    const [step, task] = ['shop.flaky', 'order'].map((name) => spans().find((span) => span.name === name))
    expect(step?.spanContext().traceId).not.toBe(task?.spanContext().traceId)
    expect(step?.links.map((link) => link.context.spanId)).toEqual([task?.spanContext().spanId])
    expect(paths(spans())).toContain('shop.flaky > run shop.flaky')
  })

  it('is made of traces of each run, linked to it, if the task is said to be long by runs', async () => {
    const { given, spans } = traced({ longTasks: { monthly: 'run' } })
    const monthly = workflow('monthly', {
      async run(left: number, task) {
        await task.run(flaky, null)
        return left > 0 ? task.continueAsNew(left - 1) : null
      },
    })
    await using engine = await engineOf({ ...given, workflows: [monthly] })
    await engine.submit(monthly, 2, { id: 'm-1' })
    await engine.advance('1m')
    const traces = Object.values(Object.groupBy(spans(), (span) => span.spanContext().traceId)).map((of) => of ?? [])
    const run = ['run monthly', 'run monthly > shop.flaky', ...twice('run monthly > shop.flaky > run shop.flaky')]
    expect(traces.map(paths).sort()).toEqual([run, run, run, ['submit monthly', 'submit monthly > monthly']])
    const task = spans().find(({ name }) => name === 'monthly')
    const runs = spans().filter(({ name }) => name === 'run monthly')
    for (const { links } of runs) expect(links.map((link) => link.context.spanId)).toEqual([task?.spanContext().spanId])
    // From the end of the task, one comes to its last run.
    expect(task?.links.map((link) => link.context.spanId)).toEqual([runs.at(-1)?.spanContext().spanId])
    expect(runs.map(({ attributes }) => attributes['triarch.run'])).toEqual([1, 2, 3])
  })

  it('of a run is one trace also where others run its attempts, and goes on under another owner', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const monthly = workflow('monthly', {
      async run(left: number, task) {
        await task.run(flaky, null)
        if (left > 0) return task.continueAsNew(left - 1)
        await task.sleep('1h')
        await task.run(flaky, null)
      },
    })
    const shared = { store: file.store, environment, workflows: [monthly], lease: '5s' as const }
    const { given, spans } = traced({ longTasks: { monthly: 'run' } })
    await using worker = await engineOf({ ...given, ...shared, roles: ['agent', 'supervisor'] })
    const first = await engineOf({ ...given, ...shared, agents: [], roles: ['scheduler'] })
    await first.submit(monthly, 1, { id: 'm-1' })
    await worker.advance('10m')
    await first.stop()
    await using _ = await engineOf({ ...given, ...shared, agents: [], roles: ['scheduler'] })
    await worker.advance('2h')
    const step = 'run monthly > shop.flaky'
    const attempts = twice(`${step} > run shop.flaky`)
    expect(paths(spans())).toEqual(
      [
        ...['submit monthly', 'submit monthly > monthly', 'run monthly', 'run monthly'],
        ...[step, step, step, ...attempts, ...attempts, ...attempts],
      ].sort(),
    )
    const last = spans().filter(({ attributes }) => attributes['triarch.run'] === 2)
    const of = spans().filter((span) => span.spanContext().traceId === last[0]?.spanContext().traceId)
    expect(of).toHaveLength(1 + 2 * 3)
  })

  it.each(['run', 'step'] as const)('is kept by %s whole or not at all, as the sampler says of each', async (part) => {
    const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) })
    const { given, spans } = traced({ longTasks: { order: part }, sampler })
    await using engine = await engineOf(given)
    for (let n = 0; n < 20; n++) await engine.submit(order, null, { id: `o-${n}` })
    await engine.advance('2h')
    const traces = Object.values(Object.groupBy(spans(), (span) => span.spanContext().traceId)).map((of) => of ?? [])
    const kept = traces.map(paths).filter((of) => of.some((path) => path.endsWith('run shop.flaky')))
    const above = part === 'run' ? ['run order', 'run order > shop.flaky'] : ['shop.flaky']
    const whole = [...above, ...twice(`${above.at(-1)} > run shop.flaky`)]
    expect(kept).toEqual(kept.map(() => whole))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(20)
  })

  it('is that of whoever submits', async () => {
    const { given, spans, tracerProvider } = traced()
    await using engine = await engineOf(given)
    const root = tracerProvider.getTracer('web').startSpan('GET /')
    await context.with(trace.setSpan(context.active(), root), () => engine.submit(item, 1))
    const header = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await engine.submit(item, 2, { metadata: { traceparent: header } })
    await engine.settle()
    root.end()
    expect(paths(spans())).toEqual([
      'GET /',
      'GET / > submit item',
      'GET / > submit item > item',
      'MISSING > submit item',
      'MISSING > submit item > item',
    ])
    const traces = new Set(spans().map((span) => span.spanContext().traceId))
    expect(traces).toEqual(new Set([root.spanContext().traceId, 'a'.repeat(32)]))
  })

  it('goes on at the attempt for whoever reads the metadata there, and the history knows nothing of that', async () => {
    const { given, spans } = traced()
    const seen: (string | undefined)[] = []
    const look = agent('eye').action('look', { run: (_: null, step) => void seen.push(step.metadata.traceparent) })
    const local = workflow('local', {
      async run(_: null, task) {
        await task.run(look, null)
        await task.run('own', (step) => void seen.push(step.metadata.traceparent))
        return task.metadata.traceparent
      },
    })
    await using engine = await testEngine({ ...given, workflows: [local], agents: [look.agent] })
    const task = await engine.submit(local, null, { metadata: { tenant: 'acme' } })
    await engine.settle()
    const headerOf = (name: string) => {
      const { traceId, spanId } =
        spans()
          .find((span) => span.name === name)
          ?.spanContext() ?? expect.fail(name)
      return `00-${traceId}-${spanId}-01`
    }
    expect(seen).toEqual([headerOf('run eye.look'), headerOf('run own')])
    expect(await task.result()).toBe(headerOf('submit local'))
  })

  it('says who sends and who processes as the semantic conventions have it, and local steps are neither', async () => {
    const { given, spans } = traced()
    const local = workflow('local', {
      async run(_: null, task) {
        await task.run(flaky, null)
        await task.run('own', () => 1)
      },
    })
    await using engine = await engineOf({ ...given, workflows: [local] })
    await engine.submit(local, null, { id: 'o-1' })
    await engine.advance('1m')
    const said = spans().map(({ name, kind, attributes }) => {
      const own = Object.entries(attributes).filter(([key]) => key.startsWith('messaging.'))
      return [`${name} ${SpanKind[kind]}`, Object.fromEntries(own)] as const
    })
    const to = (destination: string, type: string, operation: string) => ({
      ...{ 'messaging.system.name': 'triarch', 'messaging.destination.name': destination },
      ...{ 'messaging.operation.type': type, 'messaging.operation.name': operation },
    })
    const conversation = { 'messaging.message.conversation_id': 'o-1' }
    expect(Object.fromEntries(said)).toEqual({
      'submit local PRODUCER': { ...to('local', 'send', 'submit'), 'messaging.message.id': 'o-1' },
      'local CONSUMER': { ...to('local', 'process', 'task'), ...conversation, 'messaging.message.id': 'o-1' },
      'shop.flaky PRODUCER': to('shop', 'send', 'request'),
      'run shop.flaky CONSUMER': {
        ...{ ...to('shop', 'process', 'run'), ...conversation },
        'messaging.message.id': expect.stringMatching(/^o-1~\w+:1$/),
      },
      'own INTERNAL': {},
      'run own INTERNAL': {},
    })
    const known = new Set<unknown>(Object.values(conventions))
    const used = spans().flatMap(({ attributes }) =>
      Object.keys(attributes).filter((key) => !key.startsWith('triarch.')),
    )
    expect(used.filter((key) => !known.has(key))).toEqual([])
    expect(used).toContain('error.type')
  })

  it('carries the baggage of whoever submits to every attempt, and to those of children', async () => {
    const { given } = traced()
    const seen: [string, string | undefined][] = []
    const look = agent('eye').action('look', {
      run: (who: string) =>
        void seen.push([who, propagation.getBaggage(context.active())?.getEntry('tenant, of it')?.value]),
    })
    const child = workflow('child', { run: (_: null, task) => task.run(look, 'child') })
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.run(look, 'parent')
        await task.sleep('1h')
        await task.call(child, null)
      },
    })
    await using engine = await testEngine({ ...given, workflows: [parent, child], agents: [look.agent] })
    const baggage = propagation.createBaggage({
      huge: { value: 'x'.repeat(5_000) },
      'tenant, of it': { value: 'café = 100 %;, ok' },
    })
    const task = await context.with(propagation.setBaggage(context.active(), baggage), () =>
      engine.submit(parent, null),
    )
    await engine.advance('2h')
    expect(seen).toEqual([
      ['parent', 'café = 100 %;, ok'],
      ['child', 'café = 100 %;, ok'],
    ])
    // What is too long for the metadata of a task is left behind, and the rest is not.
    expect((await task.status()).metadata.baggage?.length).toBeLessThan(100)
  })

  it.each(['', ',,=', '%zz=%zz', 'a', '=b;c', ';'.repeat(200)])(
    'does not mind baggage of elsewhere that is none: %j',
    async (text) => {
      const { given, spans } = traced()
      await using engine = await engineOf(given)
      const task = await engine.submit(item, 1, { metadata: { baggage: text } })
      await engine.settle()
      expect(await task.result()).toBe(1)
      expect(paths(spans())).toEqual(['submit item', 'submit item > item'])
    },
  )

  it('stays whole where the SDK makes ids of its own: its spans are then children of the submission', async () => {
    const { given, spans } = traced({ durable: false })
    await using engine = await engineOf(given)
    await engine.submit(order, null)
    await engine.advance('2h')
    const above = 'submit order'
    expect(paths(spans())).toEqual(
      [
        ...[above, `${above} > item`, `${above} > order`, `${above} > shop.flaky`],
        ...[`${above} > run shop.flaky`, `${above} > run shop.flaky`],
      ].sort(),
    )
  })

  it.each([
    ['nothing', new AlwaysOffSampler(), 0],
    ['whole traces, also of tasks that began their own', new TraceIdRatioBasedSampler(0.5), 1],
  ])('keeps %s when the sampler says so', async (_, sampler, least) => {
    const { given, spans } = traced({ sampler })
    await using engine = await engineOf(given)
    await engine.triarch.schedules
      .get('often')
      .register({ workflow: order, input: null, every: '1h', overlap: 'allow' })
    await engine.advance('24h')
    const tasks = Map.groupBy(spans(), ({ attributes }) => String(attributes['triarch.task']))
    const whole = [...tasks.values()].filter((of) => of.some(({ name }) => name === 'order'))
    expect(whole.length).toBeGreaterThanOrEqual(least)
    for (const of of whole)
      expect(paths(of)).toEqual(['order', 'order > shop.flaky', ...twice('order > shop.flaky > run shop.flaky')])
  })

  it('costs no submission when nobody listens: without an SDK nothing is added to it', async () => {
    const otel = openTelemetry()
    await using engine = await engineOf({ middleware: [otel.middleware], telemetry: otel.telemetry })
    const task = await engine.submit(item, 1)
    await engine.settle()
    expect((await task.status()).metadata).toEqual({})
  })
})

it('an option that does not exist is refused', () => {
  expect(() => openTelemetry({ longTask: [] } as object)).toThrow(expect.objectContaining({ code: 'UNKNOWN_OPTION' }))
  for (const longTasks of ['order', [1], { order: 'day' }, null])
    expect(() => openTelemetry({ longTasks } as object)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

it('no span that began is left without an end, and none is told that was made only to ask', async () => {
  const open = new Set<string>()
  const ended: string[] = []
  const exporter = new InMemorySpanExporter()
  const keeper = {
    onStart: (span: ReadableSpan) => void open.add(span.spanContext().spanId),
    onEnd: (span: ReadableSpan) => {
      open.delete(span.spanContext().spanId)
      ended.push(span.name)
    },
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  }
  const ids = new SpanIds()
  const spanProcessors = [keeper, new SimpleSpanProcessor(exporter)]
  const otel = openTelemetry({ tracerProvider: new BasicTracerProvider({ idGenerator: ids, spanProcessors }), ids })
  await using engine = await engineOf({ telemetry: otel.telemetry })
  // Without the middleware, nobody's trace led to it.
  await engine.submit(order, null)
  await engine.advance('2h')
  expect([...open]).toEqual([])
  expect(ended).toContain('probe')
  const names = exporter.getFinishedSpans().map(({ name }) => name)
  expect(names).toContain('order')
  expect(names).not.toContain('probe')
})
