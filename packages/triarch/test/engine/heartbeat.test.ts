import { describe, expect, it } from 'vitest'
import { agent, PermanentError, polling, type StepContext, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

describe('heartbeats', () => {
  it('of hours neither fill the history nor end the task', async () => {
    const environment = new VirtualEnvironment()
    const bank = agent('bank')
    const long = bank.action('long', {
      attemptWithin: '1d',
      heartbeatWithin: '10s',
      async run(_: null, step: StepContext) {
        for (let beat = 1; beat <= 3_600; beat++) {
          step.heartbeat({ progress: beat / 3_600, checkpoint: beat })
          await new Promise<void>((resolve) => environment.timer(1_000, resolve))
        }
        return step.checkpoint ?? 'undisturbed'
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(long, null) })
    await using s = await stage({ workflows: [flow], agents: [bank], environment, limits: { history: 20 } })
    const task = await s.submit(flow, null)
    await s.advance('30m')
    const [step] = (await task.status()).steps
    expect(step?.progress).toBeGreaterThan(0.45)
    await s.advance('31m')
    expect(await task.result()).toBe('undisturbed')
    expect((await eventsOf(task, 'heartbeat')).length).toBeLessThan(200)
  })

  it('give the next attempt the last checkpoint, also one that came with no progress after it', async () => {
    const bank = agent('bank')
    const seen: unknown[] = []
    const act = bank.action('act', {
      retry: { attempts: 2 },
      run(_: null, step: StepContext) {
        seen.push(step.checkpoint)
        step.heartbeat({ checkpoint: 'first' })
        step.heartbeat({ checkpoint: 'second' })
        step.heartbeat({ progress: 1 })
        if (step.attempt === 1) throw new Error('once more')
        return 'done'
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await task.result()).toBe('done')
    expect(seen).toEqual([undefined, 'second'])
  })
})

describe('checkpoints', () => {
  const payload = 10_000
  const saved = (n: number) => `${n}`.padEnd(9_000, 'x')

  it('of a long attempt grow its history by the logarithm of its time, and the last is not far behind', async () => {
    const environment = new VirtualEnvironment()
    const bank = agent('bank')
    const long = bank.action('long', {
      attemptWithin: '1d',
      async run(_: null, step: StepContext) {
        if (step.attempt > 1) return Number(String(step.checkpoint).replaceAll('x', ''))
        for (let beat = 1; beat <= 2_160; beat++) {
          step.heartbeat({ checkpoint: saved(beat) })
          await new Promise<void>((resolve) => environment.timer(10_000, resolve))
        }
        throw new Error('once more')
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(long, null) })
    await using s = await stage({ workflows: [flow], agents: [bank], environment, limits: { payload } })
    const task = await s.submit(flow, null)
    await s.advance('4h')
    const saving = (await eventsOf(task, 'heartbeat')).filter(({ checkpoint }) => checkpoint !== undefined)
    const last = Number(String(saving.at(-1)?.checkpoint).replaceAll('x', ''))
    // A quarter of its time is what a crash may cost.
    expect(last).toBeGreaterThan(1_440 * 0.75)
    // Every 60 seconds they would be 240, and in 6 hours 360.
    expect(saving.length).toBeLessThan(60)
    await s.advance('3h')
    expect(await task.result()).toBe(2_160)
  })

  it('are in the history once, however often progress is told beside them', async () => {
    const environment = new VirtualEnvironment()
    const bank = agent('bank')
    const act = bank.action('act', {
      attemptWithin: '10m',
      async run(_: null, step: StepContext) {
        step.heartbeat({ checkpoint: saved(1) })
        for (let part = 1; part <= 20; part++) {
          await new Promise<void>((resolve) => environment.timer(5_000, resolve))
          step.heartbeat({ progress: part / 20 })
        }
        return 'done'
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [bank], environment })
    const task = await s.submit(flow, null)
    await s.advance('3m')
    expect(await task.result()).toBe('done')
    const beats = await eventsOf(task, 'heartbeat')
    expect(beats.filter(({ checkpoint }) => checkpoint !== undefined)).toHaveLength(1)
    expect(beats.length).toBeGreaterThan(15)
  })

  it('count towards the bytes of a history, which has a bound, as all else that its steps make', async () => {
    const bank = agent('bank')
    const act = bank.action('act', {
      retry: { attempts: 1_000, backoff: { initial: '1s', factor: 1 } },
      run(_: null, step: StepContext) {
        step.heartbeat({ checkpoint: saved(step.attempt) })
        throw new Error('once more')
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    const limits = { payload, historyBytes: 200_000 }
    await using s = await stage({ workflows: [flow], agents: [bank], limits })
    const task = await s.submit(flow, null)
    await s.advance('10m')
    expect(await task.status()).toMatchObject({ status: 'stopped', error: { code: 'HISTORY_TOO_LONG' } })
  })
})

describe('a heartbeat that somebody’s transaction keeps out', () => {
  it('is said again until it is heard, with what came meanwhile, and keeps its attempt alive', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const held = { now: true, sent: 0 }
    const bank = agent('bank')
    const act = bank.action('act', {
      attemptWithin: '2m',
      heartbeatWithin: '30s',
      async run(_: null, step: StepContext) {
        step.heartbeat({ checkpoint: 'here' })
        await new Promise<void>((resolve) => environment.timer(20_000, resolve))
        step.heartbeat({ progress: 0.5 })
        await new Promise<void>((resolve) => environment.timer(90_000, resolve))
        return 'done'
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    const common = { environment, lease: '10s', sweep: '1s', poll: '100ms' } as const
    await using client = await stage({
      ...common,
      store: file.store,
      roles: ['supervisor', 'scheduler'],
      workflows: [flow],
    })
    const store: typeof file.store = (its) => {
      const made = file.store(its)
      const beatWork: StateStore['heartbeatWork'] = async (beats) => {
        const said = await made.heartbeatWork(beats.map((beat) => (held.now ? { ...beat, message: null } : beat)))
        return said.map((it, index) => (held.now && beats[index]?.message && it === 'ok' && ++held.sent ? 'held' : it))
      }
      return new Proxy(made, {
        get: (target, key) => {
          const own = Reflect.get(target, key, target) as unknown
          return key === 'heartbeatWork' ? beatWork : typeof own === 'function' ? own.bind(target) : own
        },
      })
    }
    await using _agent = await stage({ ...common, store, roles: ['agent'], agents: [bank] })
    const task = await client.submit(flow, null)
    await client.advance('25s')
    expect(await eventsOf(task, 'heartbeat')).toEqual([])
    expect(held.sent).toBeGreaterThan(2)
    held.now = false
    await client.advance('3s')
    expect(await eventsOf(task, 'heartbeat')).toMatchObject([{ progress: 0.5, checkpoint: 'here' }])
  })
})

describe('views and waits', () => {
  it('show the input that an operator gave a step', async () => {
    const bank = agent('bank')
    const pay = bank.action('pay', {
      rescue: 'pause',
      retry: { attempts: 1 },
      run: (amount: number) => (amount < 0 ? Promise.reject(new Error('no')) : amount),
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(pay, -1) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null, { startAt: new Date(s.engine.now().getTime() + 60_000) })
    expect((await task.status()).progress).toBe(0)
    await s.advance('2m')
    await task.retry({ step: 1, input: 5 })
    await s.advance('1m')
    expect(await task.result()).toBe(5)
    expect(await task.steps()).toMatchObject([{ input: 5, status: 'success' }])
  })

  it('a step sends itself a signal at once', async () => {
    const bank = agent('bank')
    const act = bank.action('act', {
      run: (_: null, step: StepContext) =>
        step.received ? step.received.name : step.suspend({ signals: [{ name: 'now', in: 0 }] }),
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toBe('now')
  })

  it('a poll that is refused for good decides at once', async () => {
    let polls = 0
    const bank = agent('bank')
    const act = bank.action('act', {
      run: polling({
        invoke: () => 'job',
        poll: () => {
          polls++
          throw new PermanentError('unknown job')
        },
        done: () => false,
        failures: 5,
      }),
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(polls).toBe(1)
  })
})
