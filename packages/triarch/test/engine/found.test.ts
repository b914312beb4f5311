import { describe, expect, it } from 'vitest'
import { delay } from '../../src/environment/environment.ts'
import { agent, PermanentError, TransientError, Triarch, UnknownOutcomeError, workflow } from '../../src/index.ts'
import { receive } from '../../src/kernel/receive.ts'
import { newState } from '../../src/kernel/state.ts'
import { emit, newTurn } from '../../src/kernel/turn.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { memory } from '../../src/testing/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** What was found broken once. */
describe('found once', () => {
  it('a task that was told something, and cancelled before it began, hears it when it is retried', async () => {
    const own = agent('own')
    const act = own.action('act', { run: (of: string) => of })
    const other = workflow('other', { run: async (_: null) => null })
    const listening = workflow('listening', {
      async run(_: null, task) {
        const hears = async () => task.run(act, await task.waitForSignal<string>('go'))
        const starts = async () => task.run(act, (await task.start(other, null)) && 'at once')
        return Promise.all([hears(), starts()])
      },
    })
    await using s = await stage({ workflows: [listening, other], agents: [own] })
    const task = await s.submit(listening, null, { startAt: '1h' })
    await task.signal('go', 'told before')
    await task.cancel()
    await s.advance('2h')
    await task.retry()
    await s.settle()
    expect(s.alerts).toEqual([])
    expect(await task.result()).toEqual(['told before', 'at once'])
  })

  it('signals that come while a task continues as new wait for its next run', async () => {
    const heard: unknown[] = []
    const loop = workflow('loop', {
      async run(round: number, task): Promise<number> {
        heard.push(await task.waitForSignal('tick'))
        return round === 3 ? round : task.continueAsNew(round + 1)
      },
    })
    await using s = await stage({ workflows: [loop] })
    const task = await s.submit(loop, 1)
    await Promise.all([1, 2, 3].map((n) => task.signal('tick', n)))
    expect(await task.result()).toBe(3)
    expect(heard).toEqual([1, 2, 3])
  })

  it('a definite failure does not clear the doubt about the attempt before it', async () => {
    let asked = 0
    const bank = agent('bank')
    const charge = bank.action('charge', {
      retry: { attempts: 2, backoff: { initial: '1s' } },
      run: async (_: unknown, step): Promise<string> => {
        throw step.attempt === 1 ? new UnknownOutcomeError('cut off') : new TransientError('busy')
      },
      verify: () => (++asked === 1 ? { done: 'unknown' } : { done: true, output: 'charged at first' }),
    })
    const buy = workflow('buy', { run: (_: unknown, task) => task.run(charge, null) })
    await using s = await stage({ workflows: [buy], agents: [bank] })
    const task = await s.submit(buy, null)
    await s.advance('1m')
    expect(await task.result()).toBe('charged at first')
    expect(asked).toBe(2)
  })

  it('a retry goes on from the failure that ended the run, not from one the code had caught', async () => {
    const keys: string[] = []
    let broken = true
    const shop = agent('shop')
    const fail = shop.action('fail', {
      run: async (_: unknown): Promise<null> => Promise.reject(new PermanentError('no')),
    })
    const charge = shop.action('charge', { run: async (_: unknown, step) => keys.push(step.idempotencyKey) })
    const buy = workflow('buy', {
      async run(_: unknown, task) {
        await task.run(fail, null).catch(() => undefined)
        await task.run(charge, null)
        if (broken) throw new Error('a mistake in the code')
        return 'bought'
      },
    })
    await using s = await stage({ workflows: [buy], agents: [shop] })
    const task = await s.submit(buy, null)
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
    broken = false
    await task.retry()
    await s.settle()
    expect(await task.result()).toBe('bought')
    expect(keys).toHaveLength(1)
  })

  it('a retry that comes after the task succeeded changes nothing', () => {
    const state = newState('t')
    const turn = newTurn(state, 1, () => 0, { history: 10, fanOut: 10, payload: 1_000 })
    emit(turn, { type: 'submitted', workflow: 'w', version: '1', input: null })
    emit(turn, { type: 'started' })
    emit(turn, { type: 'returned', output: 1 })
    emit(turn, { type: 'stopped', result: 'success', output: 1 })
    const before = turn.events.length
    receive(turn, { type: 'retry', input: 2 })
    expect(turn.events).toHaveLength(before)
    expect(turn.stale).toBe(1)
  })

  it('a takeover declares lost only what was under way before it', async () => {
    const state = newState('t')
    const turn = newTurn(state, 1, () => 0, { history: 10, fanOut: 10, payload: 1_000 })
    emit(turn, { type: 'submitted', workflow: 'w', version: '1', input: null })
    emit(turn, { type: 'started' })
    emit(turn, { type: 'stepRequested', id: 1, action: 'a.x', name: 'x', input: null, policy: {} })
    receive(turn, { type: 'takeover', step: 2 })
    expect(turn.events.filter(({ type }) => type === 'attemptFailed')).toEqual([])
    receive(turn, { type: 'takeover', step: 1 })
    expect(turn.events.at(-1)).toMatchObject({ type: 'attemptFailed', unknown: true, error: { code: 'STEP_LOST' } })
  })

  it('an agent with few slots refuses nothing it took from its queue', async () => {
    const busy = agent('busy', { concurrency: 2 })
    const work = busy.action('work', {
      semantics: 'at-most-once',
      run: async (n: number) => {
        await new Promise((resolve) => setImmediate(resolve))
        return n
      },
    })
    const many = workflow('many', {
      run: async (_: unknown, task) => (await Promise.all([1, 2, 3, 4, 5].map((n) => task.run(work, n)))).length,
    })
    await using s = await stage({ workflows: [many], agents: [busy] })
    const tasks = await Promise.all(Array.from({ length: 20 }, () => s.submit(many, null)))
    for (const task of tasks) {
      expect(await task.result()).toBe(5)
      expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    }
  })
})

it('found once: a task that was paused and cancelled before it began begins when it is retried', async () => {
  const simple = workflow('simple', { run: async () => 'done' })
  await using s = await stage({ workflows: [simple] })
  const task = await s.submit(simple, undefined, { startAt: '1h' })
  await task.pause()
  await s.settle()
  await task.cancel()
  await s.settle()
  await task.retry()
  await s.advance('2h')
  expect(await task.result()).toBe('done')
})

/** A store whose answers take their time, as those of one on the network do, and overlap. */
const slow: StoreFactory = (environment) => {
  const store = memory()(environment)
  const { commit, inbox } = store
  return Object.assign(store, {
    commit: async (batch: Parameters<typeof commit>[0]) => {
      await delay(environment, 5)
      return commit.call(store, batch)
    },
    inbox: async (node: string, limit: number) => {
      const letters = await inbox.call(store, node, limit)
      await delay(environment, 10)
      return letters
    },
  })
}

it('found once: a letter that the inbox still shows while it is being consumed is read once', async () => {
  const listener = workflow('listener', {
    run: async (_: unknown, task) => [
      await task.waitForSignal('news'),
      await task.waitForSignal('news', { timeout: '1s' }),
    ],
  })
  await using s = await stage({ workflows: [listener], store: slow, poll: 1 })
  const submitted = s.submit(listener, null)
  await s.advance(50)
  const task = await submitted
  await task.signal('news', 'once')
  await s.advance(500)
  expect(await eventsOf(task, 'signalReceived')).toHaveLength(1)
})

it('found once: a stop in the midst of a look into the store is no error, and takes nothing more', async () => {
  const quick = workflow('quick', { run: async () => 'done' })
  await using s = await stage({ workflows: [quick], store: slow, poll: 1 })
  await s.advance(5)
  await s.kill()
  expect(s.errors).toEqual([])
})

it('found once: a node that is stopped while it starts does not start after all', async () => {
  const environment = new VirtualEnvironment()
  const late: string[] = []
  let closed = false
  // Joining takes its time; whatever is asked of the store after it is closed is noted.
  const store: StoreFactory = (own) => {
    const real = slow(own)
    const { heartbeat, close } = real
    Object.assign(real, {
      heartbeat: async (node: Parameters<typeof heartbeat>[0]) => {
        await delay(own, 10)
        return heartbeat.call(real, node)
      },
      close: () => {
        closed = true
        return close.call(real)
      },
    })
    return new Proxy(real, {
      get(target, name) {
        if (closed && name !== 'close') late.push(String(name))
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const triarch = new Triarch({ store, environment, poll: 1, grace: 0 })
  await triarch.open()
  const starting = triarch.start()
  await environment.advance(5)
  const stopping = triarch.stop()
  await environment.advance(1_000)
  await Promise.all([starting, stopping])
  expect(closed).toBe(true)
  expect(late).toEqual([])
})

it('a store that could not be opened is opened when it is asked again', async () => {
  using place = scratch()
  let refusals = 2
  let open = 0
  const store: StoreFactory = (environment) => {
    const real = place.store(environment)
    const opens = real.open.bind(real)
    const closes = real.close.bind(real)
    return Object.assign(real, {
      open: async () => {
        await opens()
        open++
        if (refusals-- > 0) throw new Error('the store is not there yet')
      },
      close: async () => {
        open--
        await closes()
      },
    })
  }
  await using triarch = new Triarch({ store })
  await expect(triarch.start()).rejects.toThrow('not there yet')
  await expect(triarch.nodes.list()).rejects.toThrow('not there yet')
  await triarch.start()
  expect(await triarch.nodes.list()).toHaveLength(1)
  expect(open).toBe(1)
})

it('found once: a task that is stopped and set going again at once has its lock again', async () => {
  const own = agent('own')
  let broken = true
  const act = own.action('act', {
    retry: { attempts: 1 },
    rescue: 'pause',
    run: async (_: unknown) => (broken ? Promise.reject(new PermanentError('no')) : 'done'),
  })
  const only = workflow('only', { exclusive: {}, run: (_: unknown, task) => task.run(act, null) })
  await using s = await stage({ workflows: [only], agents: [own] })
  const task = await s.submit(only, null)
  await s.settle()
  expect((await task.status()).status).toBe('paused')
  broken = false
  await task.cancel({ force: true })
  await task.retry()
  await s.advance('2h') // past this engine's poll
  expect(await task.result()).toBe('done')
})
