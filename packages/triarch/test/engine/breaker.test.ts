import { describe, expect, it } from 'vitest'
import {
  type AgentOptions,
  agent,
  type CircuitBreakerOptions,
  type Duration,
  PermanentError,
  TransientError,
  UnknownOutcomeError,
  workflow,
} from '../../src/index.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, type Stage, seen, stage } from './harness.ts'

const quick = { attempts: 100, backoff: { initial: '100ms', max: '100ms', jitter: false } } as const
const rule = { failureRate: 0.5, minimum: 4, window: '10s', open: '10s', openMax: '40s', probes: 2 } as const

interface Order {
  region: string
  n: number
}

/** An agent whose service is ill where it is said to be; what it saw, and workflows that call it. */
function bank(options: CircuitBreakerOptions = {}, more: AgentOptions | number = 100) {
  const ill = new Set<string>()
  const calls: { at: number; what: string }[] = []
  const others = typeof more === 'number' ? { concurrency: more } : more
  const pay = agent('bank', { ...others, circuitBreaker: { ...rule, ...options } })
  let now = () => 0
  let pause = (_: number): Promise<void> => Promise.resolve()
  const meet = (what: string, { region }: Order) => {
    calls.push({ at: now(), what })
    if (ill.has(region)) throw new TransientError('ill')
  }
  const charge = pay.action('charge', {
    retry: quick,
    undoRetry: quick,
    run: async (order: Order) => {
      meet(`run ${order.n}`, order)
      await pause(100)
      return order
    },
    undo: ({ output }) => meet(`undo ${output.n}`, output),
  })
  const refuse = pay.action('refuse', {
    run: (order: Order) => {
      meet(`refuse ${order.n}`, order)
      throw new PermanentError('no money')
    },
  })
  const order = workflow('order', { run: (given: Order, task) => task.run(charge, given) })
  const refused = workflow('refused', { run: (given: Order, task) => task.run(refuse, given, { rescue: 'fail' }) })
  const saga = workflow('saga', {
    async run(given: Order, task) {
      await task.run(charge, given)
      await task.waitForSignal('go')
      throw new Error('undo it')
    },
  })
  const start = async (given: Parameters<typeof stage>[0] = {}): Promise<Stage> => {
    const s = await stage({ workflows: [order, saga, refused], agents: [pay], ...given })
    now = () => s.engine.now().getTime()
    pause = (ms) => new Promise((resolve) => void s.engine.environment.timer(ms, resolve))
    return s
  }
  return { ill, calls, order, saga, refused, start, since: (at: number) => calls.filter((call) => call.at >= at) }
}

/** Of an error and its causes. */
function codesOf(error: { code?: string; cause?: unknown } | undefined): (string | undefined)[] {
  return error ? [error.code, ...codesOf(error.cause as typeof error)] : []
}

const many = (s: Stage, of: ReturnType<typeof bank>, count: number, region = 'eu') =>
  Promise.all(Array.from({ length: count }, (_, n) => s.submit(of.order, { region, n }, { id: `${region}-${n}` })))

/** So many have waited behind a breaker that was open for a second, and go now. */
async function released(s: Stage, of: ReturnType<typeof bank>, count: number) {
  const breaker = s.engine.triarch.breakers.get('bank')
  await breaker.open({ reason: 'a test' })
  const tasks = await many(s, of, count)
  await s.advance('1s')
  await breaker.close({ reason: 'a test' })
  return tasks
}

/** The breaker is open, and its service was left alone for a moment. */
async function opened(s: Stage, of: ReturnType<typeof bank>, count = 6, region = 'eu') {
  of.ill.add(region)
  const tasks = await many(s, of, count, region)
  await s.advance('1s')
  return tasks
}

describe('a circuit breaker', () => {
  const pause = (s: Stage | null, ms: number) =>
    new Promise<void>((resolve) => void s?.engine.environment.timer(ms, resolve))
  type Run = (s: Stage | null) => unknown
  it.each<[what: string, opens: boolean, run: Run]>([
    ['answers that do not come in time', true, () => new Promise(() => undefined)],
    ['slow answers', true, (s) => pause(s, 300)],
    ['transient errors', true, () => Promise.reject(new TransientError('down'))],
    ['errors that say nothing of what was done', true, () => Promise.reject(new UnknownOutcomeError('cut off'))],
    ['errors that nobody named', true, () => Promise.reject(new Error('what?'))],
    ['refusals', false, () => Promise.reject(new PermanentError('no money'))],
    ['quick answers', false, (s) => pause(s, 100)],
    ['what it gives that cannot be recorded', false, () => () => 'a function'],
  ])('counts %s: opens by them is %s', async (_, opens, run) => {
    let s: Stage | null = null
    const pay = agent('bank', { circuitBreaker: { ...rule, slowerThan: '200ms' } })
    const charge = pay.action('charge', { attemptWithin: '1s', retry: { attempts: 1 }, run: () => run(s) })
    const order = workflow('order', { rescue: 'fail', run: (_: null, task) => task.run(charge, null) })
    await using given = await stage({ workflows: [order], agents: [pay] })
    s = given
    await Promise.all(Array.from({ length: 8 }, () => given.submit(order, null)))
    await given.advance('3s')
    const { changes } = await given.engine.triarch.breakers.get('bank').info()
    expect(changes.some(({ to }) => to === 'open')).toBe(opens)
  })
})

describe('while its circuit breaker is open an agent', () => {
  it('is left alone, and its steps wait without an attempt and without a slot', async () => {
    const of = bank({}, 4)
    await using s = await of.start()
    const [first] = await opened(s, of, 40)
    const before = of.calls.length
    expect(before).toBeLessThan(20)
    await s.advance('5s')
    expect(of.calls).toHaveLength(before)
    expect((await s.engine.triarch.statistics.get()).work).toBe(40)
    expect((await eventsOf(first as never, 'attemptFailed')).length).toBeLessThanOrEqual(2)
    expect(s.alerts).toMatchObject([{ code: 'BREAKER_CHANGED', breaker: 'bank', cause: 'open' }])
  })

  it('is tried by its probes and by nothing else, for longer each time it is still ill', async () => {
    const of = bank()
    await using s = await of.start()
    await opened(s, of, 40)
    const rounds: number[] = []
    for (let round = 0; round < 4; round++) {
      const before = of.calls.length
      await s.advance('40s')
      rounds.push(of.calls.length - before)
    }
    // Of 10 s, 20 s and 40 s, less a quarter at most: one probe that fails is enough.
    expect(rounds.every((calls) => calls >= 1 && calls <= 6)).toBe(true)
    of.ill.clear()
    await s.advance('2m')
  })

  it('gets what waited in waves once it is well, and forgets none', async () => {
    const of = bank()
    await using s = await of.start()
    const tasks = await opened(s, of, 200)
    of.ill.clear()
    const well = s.engine.now().getTime()
    await s.advance('30s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(200)
    const served = of.since(well)
    expect(served).toHaveLength(200)
    // 2 probes, then twice as many each time: as soon as the last wave was answered, which takes 100 ms.
    const waves = [...Map.groupBy(served, ({ at }) => at).values()].map(({ length }) => length)
    expect(waves).toEqual([2, 4, 8, 16, 32, 64, 74])
    const causes = s.alerts.map(({ cause }) => cause)
    expect(causes).toEqual(['open', 'half-open', 'releasing', 'closed'])
  })

  it.each<[bound: string, options: AgentOptions, least: Duration]>([
    ['slots', { concurrency: 5 }, '2s'],
    ['seats over all nodes', { concurrency: { shared: 5 } }, '2s'],
    ['one seat over all nodes', { concurrency: { shared: 1 } }, '7s'],
    ['pools', { pools: { high: 2, rest: 5 } }, '2s'],
    ['a rate limit', { rateLimit: { limit: 50, per: '1s', burst: 5 } }, '2s'],
  ])('gets it as soon as %s allow, which bound it as well', async (_, options, least) => {
    const of = bank({}, options)
    await using s = await of.start()
    const tasks = await released(s, of, 60)
    await s.advance(least)
    expect(of.calls).toHaveLength(60)
    await s.advance('1s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(60)
  })

  it('gets what waits by its key as soon as the rate limit of that key allows, however soon it is done', async () => {
    const key = (order: unknown) => (order as Order).region
    const of = bank({ key }, { rateLimit: { limit: 10, per: '1s', burst: 1, key } })
    await using s = await of.start()
    const breaker = s.engine.triarch.breakers.get('bank#eu')
    const some = (from: number, to: number) => {
      for (let n = from; n < to; n++) void s.submit(of.refused, { region: 'eu', n })
      return s.advance('1s')
    }
    await some(0, 1)
    await breaker.open({ reason: 'a test' })
    await some(1, 30)
    await breaker.close({ reason: 'a test' })
    await s.advance('4s')
    expect(of.calls).toHaveLength(30)
  })

  it('gets it although its seat was free again before the answer came that there was none', async () => {
    const of = bank({}, { concurrency: { shared: 1 } })
    const environment = new VirtualEnvironment()
    const slow = seen(memory(), (store) => ({
      takeWork: async (request) => {
        const items = await store.takeWork(request)
        await new Promise<void>((resolve) => environment.timer(20, resolve))
        return items
      },
    }))
    await using s = await of.start({ environment, store: slow })
    await released(s, of, 30)
    await s.advance('6s')
    expect(of.calls).toHaveLength(30)
  })

  it('gets it though nobody looks for long what its rate limit allows', async () => {
    const of = bank({}, { rateLimit: { limit: 50, per: '1s', burst: 5 } })
    await using s = await of.start({ poll: '1h' })
    await released(s, of, 10)
    await s.advance('5s')
    expect(of.calls).toHaveLength(10)
  })

  it('says by which numbers it goes, how often it opened, and how far its wave is', async () => {
    const of = bank()
    await using s = await of.start()
    await opened(s, of, 200)
    const breaker = s.engine.triarch.breakers.get('bank')
    const { rule, streak, wave } = await breaker.info()
    expect([rule, streak, wave]).toEqual([expect.objectContaining({ probes: 2, slowRate: null }), 1, undefined])
    of.ill.clear()
    const waves = new Map<number, number>()
    for (let n = 0; n < 150; n++) {
      await s.advance('100ms')
      const { wave } = await breaker.info()
      if (!wave) continue
      waves.set(wave.number, wave.size)
      expect(wave.given).toBeLessThanOrEqual(wave.size)
      expect(wave.seen.answers).toBeLessThanOrEqual(wave.given)
    }
    expect([...waves]).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => [number, 2 ** number]))
    expect(await breaker.info()).toMatchObject({ state: 'closed', streak: 0, wave: undefined })
  })

  it('takes back first what is to be undone', async () => {
    const of = bank({ probes: 1 })
    await using s = await of.start()
    const saga = await s.submit(of.saga, { region: 'eu', n: 7 }, { id: 'saga', priority: -5 })
    await s.advance('1s')
    await opened(s, of, 20)
    await saga.signal('go')
    await s.settle()
    const before = of.calls.length
    of.ill.clear()
    await s.advance('15s')
    expect(of.calls[before]?.what).toBe('undo 7')
  })

  it('minds the complete-by of what waits', async () => {
    const of = bank()
    await using s = await of.start()
    await opened(s, of)
    const late = await s.submit(of.order, { region: 'eu', n: 99 }, { id: 'late', completeBy: '3s' })
    const result = late.result().catch((error: { cause?: { code?: string } }) => error.cause?.code)
    await s.advance('5s')
    expect(await result).toBe('TASK_DEADLINE')
    expect(of.calls.some(({ what }) => what === 'run 99')).toBe(false)
    of.ill.clear()
    await s.advance('1m')
  })

  it('lets go of what waits when its task is cancelled', async () => {
    const of = bank()
    await using s = await of.start()
    const [task] = await opened(s, of)
    expect(await s.store.queued('eu-0')).toMatchObject({ work: [{ queue: 'bank', node: null }] })
    await task?.cancel()
    await s.settle()
    expect(await task?.status()).toMatchObject({ status: 'stopped' })
    expect(await s.store.queued('eu-0')).toMatchObject({ work: [] })
    of.ill.clear()
    await s.advance('1m')
  })
})

describe('a circuit breaker', () => {
  it('has the passes back of steps that a cache answered', async () => {
    const service = { ill: true }
    const meet = (): number => {
      if (service.ill) throw new TransientError('ill')
      return 1
    }
    const fees = agent('bank', { concurrency: 100, circuitBreaker: rule })
    const ask = fees.action('ask', { retry: quick, cache: { ttl: '1d' }, run: (_: number) => meet() })
    const pay = fees.action('pay', { retry: quick, run: meet })
    const order = workflow('order', {
      async run(_: number, task) {
        await task.run(ask, 1)
        return task.run(pay, undefined)
      },
    })
    await using s = await stage({ workflows: [order], agents: [fees] })
    const tasks = await Promise.all(Array.from({ length: 40 }, (_, n) => s.submit(order, n)))
    await s.advance('1s')
    service.ill = false
    await s.advance('1m')
    expect(await Promise.all(tasks.map(async (task) => (await task.status()).outcome))).toEqual(
      tasks.map(() => 'success'),
    )
  })

  it('is not open for ever on a node that could not tell in time what it saw', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let holding = true
    const store = seen(memory(), (it) => ({
      writeBreaker: async (write: Parameters<typeof it.writeBreaker>[0]) => {
        if (holding) await promise
        return it.writeBreaker(write)
      },
    }))
    const of = bank()
    await using s = await of.start({ store })
    const tasks = await opened(s, of)
    // Longer than its window.
    await s.advance('15s')
    of.ill.clear()
    holding = false
    resolve()
    await s.advance('1m')
    expect(await Promise.all(tasks.map(async (task) => (await task.status()).outcome))).toEqual(
      tasks.map(() => 'success'),
    )
  })

  it('does not mind refusals', async () => {
    const of = bank()
    await using s = await of.start()
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, n) => s.submit(of.refused, { region: 'eu', n }, { id: `r${n}` })),
    )
    await s.advance('1s')
    for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'error' })
    expect(s.alerts).toEqual([])
  })

  it('of one key does not touch the others', async () => {
    const of = bank({ key: (input) => (input as Order).region })
    await using s = await of.start()
    const ill = await opened(s, of, 20)
    const well = await many(s, of, 20, 'us')
    await s.advance('2s')
    expect(await Promise.all(well.map((task) => task.result()))).toHaveLength(20)
    expect(of.calls.filter(({ at }) => at > s.engine.now().getTime() - 1_000)).toEqual([])
    expect((await s.store.queued('eu-3')).work).toMatchObject([{ queue: 'bank#eu' }])
    expect(s.alerts).toMatchObject([{ breaker: 'bank#eu', cause: 'open' }])
    // It waits for the agent, whatever the queue is called.
    expect((await s.engine.triarch.agents.list()).agents).toMatchObject([{ name: 'bank', queue: { depth: 20 } }])
    of.ill.clear()
    await s.advance('1m')
    expect(await Promise.all(ill.map((task) => task.result()))).toHaveLength(20)
  })

  it('whose key cannot be told fails the attempt, not the node', async () => {
    const of = bank({
      key() {
        throw new PermanentError('no key')
      },
    })
    await using s = await of.start()
    const task = await s.submit(of.refused, { region: 'eu', n: 1 })
    await s.advance('1s')
    expect((await task.status()).status).toBe('running')
    expect((await eventsOf(task as never, 'attemptFailed'))[0]?.error.message).toBe('no key')
    await task.cancel({ force: true })
  })

  it('lets steps fail at once where it is told to, and tries the service with one that comes when its time is over', async () => {
    const of = bank({ whenOpen: 'fail' })
    await using s = await of.start()
    await opened(s, of)
    const before = of.calls.length
    const late = await s.submit(of.order, { region: 'eu', n: 50 }, { id: 'fails' })
    const error = late.result().catch(codesOf)
    await s.settle()
    expect(await error).toContain('CIRCUIT_OPEN')
    expect(of.calls).toHaveLength(before)
    of.ill.clear()
    await s.advance('15s')
    const next = await many(s, of, 5, 'at')
    await s.advance('5s')
    expect(await Promise.all(next.map((task) => task.result()))).toHaveLength(5)
  })
})

describe('an operator', () => {
  const by = { reason: 'maintenance', actor: 'ada' }

  it('opens a breaker that was never ill, until an instant or until it is closed, and it is known who did it and why', async () => {
    const of = bank()
    await using s = await of.start()
    const breaker = s.engine.triarch.breakers.get('bank')
    const until = new Date(s.engine.now().getTime() + 60_000)
    await breaker.open({ ...by, until })
    await s.advance('5s')
    const tasks = await many(s, of, 3)
    await s.advance('50s')
    expect(of.calls).toEqual([])
    expect(await breaker.info()).toMatchObject({ state: 'open', nextProbe: until, waiting: 3, changes: [by] })
    expect((await s.engine.triarch.breakers.list()).breakers.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'bank open',
    ])
    await s.advance('10s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(3)
    expect(s.alerts[0]).toMatchObject({ code: 'BREAKER_CHANGED', breaker: 'bank', cause: 'open' })
    await breaker.open(by)
    await s.advance('1d')
    expect(await breaker.info()).toMatchObject({ state: 'open', nextProbe: undefined })
    await breaker.close({ reason: 'done' })
    await s.advance('5s')
    expect(await breaker.info()).toMatchObject({ state: 'closed' })
    expect((await breaker.info()).changes.slice(-2)).toMatchObject([
      { to: 'releasing', actor: 'operator', reason: 'done' },
      { to: 'closed' },
    ])
  })

  it('sees by which numbers it goes soon after a setting changed them, though nothing happened to it', async () => {
    const of = bank()
    await using s = await of.start({ poll: '100ms' })
    const { triarch } = s.engine
    await s.advance('1s')
    const rules = async () => (await triarch.breakers.get('bank').info()).rule
    expect(await rules()).toMatchObject({ minimum: 4, probes: 2 })
    await triarch.settings.get('triarch.agent.bank').set({ circuitBreaker: { minimum: 9 } }, { reason: 'a test' })
    await s.advance('2s')
    expect(await rules()).toMatchObject({ minimum: 9, probes: 2 })
    await many(s, of, 2)
    await s.advance('1s')
    expect(of.calls).toHaveLength(2)
  })

  it('closes it before its time, or makes it forget how often it opened', async () => {
    const of = bank()
    await using s = await of.start()
    const tasks = await opened(s, of, 30)
    const breaker = s.engine.triarch.breakers.get('bank')
    of.ill.clear()
    await breaker.reset({ reason: 'another provider' })
    await s.advance('3s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(30)
    expect(await breaker.info()).toMatchObject({ state: 'closed', waiting: 0, seen: { answers: 0 } })
  })

  it('cannot change one that there is not, nor all keys of an agent at once', async () => {
    const of = bank({ key: (input) => (input as Order).region })
    await using s = await of.start()
    const codes = ['none', 'none#eu', 'bank', 'bank#eu'].map((name) =>
      codeOf(s.engine.triarch.breakers.get(name).open(by)),
    )
    expect(await Promise.all(codes)).toEqual(['UNKNOWN_BREAKER', 'UNKNOWN_BREAKER', 'INVALID_OPTION', 'nothing'])
    expect(await s.engine.triarch.breakers.get('bank#eu').info()).toMatchObject({
      agent: 'bank',
      key: 'eu',
      state: 'open',
    })
    expect(await codeOf(s.engine.triarch.breakers.get('bank').close(undefined as never))).toBe('INVALID_OPTION')
    expect(await codeOf(s.engine.triarch.breakers.get('bank#eu').open({ reason: 'r', until: 'soon' as never }))).toBe(
      'INVALID_OPTION',
    )
  })

  it('is told what a step waits for, and what will be done about it', async () => {
    const of = bank()
    await using s = await of.start()
    await opened(s, of, 7)
    const { text, reasons } = await s.engine.triarch.tasks.get('eu-3').explain()
    const { since, nextProbe } = await s.engine.triarch.breakers.get('bank').info()
    expect(reasons).toMatchObject([
      { code: 'breaker', breaker: 'bank', state: 'open', since, nextProbe, waiting: 7, step: 1 },
    ])
    expect(text).toMatch(
      /the circuit breaker of bank is open since .* UTC: .* answers ill, next probe at .* UTC, 7 steps wait\.$/,
    )
    of.ill.clear()
    await s.advance('1m')
  })
})
