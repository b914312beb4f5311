import { describe, expect, it } from 'vitest'
import { agent, type Role, type StepContext, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, never, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** Nodes with a role each over one file; they learn of each other through the store alone. */
function town() {
  const log: string[] = []
  const load = { now: 0, most: 0 }
  const file = scratch()
  const environment = new VirtualEnvironment()
  const own = agent('own', { concurrency: 2 })
  const act = own.action('act', {
    attemptWithin: '1m',
    retry: { attempts: 4, backoff: { initial: '1s', jitter: false } },
    async run(how: string, step: StepContext) {
      log.push(`${how} ${step.attempt}`)
      load.most = Math.max(load.most, ++load.now)
      if (how === 'slow') await new Promise<void>((resolve) => environment.timer(1_000, resolve))
      load.now--
      step.signal.addEventListener('abort', () => log.push(`${how} aborted`))
      if (how === 'hang' && step.attempt === 1) return never()
      if (how === 'flaky' && step.attempt < 3) throw new Error('busy')
      if (how === 'obedient')
        return new Promise((_, reject) => step.signal.addEventListener('abort', () => reject(new Error('stopped'))))
      return `${how} done`
    },
    undo: ({ input }) => void log.push(`-${input}`),
  })
  const flow = workflow('flow', {
    async run(hows: string[], task) {
      const done: unknown[] = []
      for (const how of hows) done.push(await task.run(act, how))
      return done
    },
  })
  const wide = workflow('wide', {
    run: async (n: number, task) => (await Promise.all(Array.from({ length: n }, () => task.run(act, 'slow')))).length,
  })
  const crowd = workflow('crowd', {
    run: async (n: number, task) => (await Promise.all(Array.from({ length: n }, () => task.run(act, 'plain')))).length,
  })
  const node = (...roles: Role[]): Promise<Stage> =>
    stage({
      store: file.store,
      environment,
      roles,
      workflows: roles.includes('scheduler') ? [flow, wide, crowd] : [],
      agents: roles.includes('agent') ? [own] : [],
      lease: '10s',
      sweep: '1s',
      poll: '100ms',
    })
  return { log, load, flow, wide, crowd, node, [Symbol.dispose]: () => file[Symbol.dispose]() }
}

describe('a store that gives the number of a request anew, for it went back', () => {
  it('gets no answer of the one before for the one that has the number now', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const own = agent('own')
    const gate = Promise.withResolvers<string>()
    const act = own.action('act', {
      attemptWithin: '1m',
      run: async (which: string, step: StepContext) => {
        if (which === 'old' && step.attempt === 1) return gate.promise
        await new Promise<void>((resolve) => environment.timer(5_000, resolve))
        return which
      },
    })
    const flow = workflow('flow', { run: (which: string, task) => task.run(act, which) })
    const common = { environment, lease: '10s', sweep: '1s', poll: '100ms' } as const
    await using s = await stage({ ...common, store: file.store, workflows: [flow], roles: ['scheduler', 'supervisor'] })
    // Each request has the same number here, which in the store is that of the last one taken.
    let last = 0
    const store: typeof file.store = (its) => {
      const made = file.store(its)
      return new Proxy(made, {
        get(target, key) {
          const take: StateStore['takeWork'] = async (of) => {
            const items = await target.takeWork(of)
            last = items.at(-1)?.id ?? last
            return items.map((item) => ({ ...item, id: 7 }))
          }
          const reply: StateStore['reply'] = (all) => target.reply(all.map((it) => ({ ...it, work: last })))
          const beatWork: StateStore['heartbeatWork'] = (all) =>
            target.heartbeatWork(all.map((it) => ({ ...it, work: last })))
          const own = Reflect.get(target, key, target) as unknown
          if (key === 'takeWork') return take
          if (key === 'reply') return reply
          if (key === 'heartbeatWork') return beatWork
          return typeof own === 'function' ? own.bind(target) : own
        },
      })
    }
    await using _agent = await stage({ ...common, store, agents: [own], roles: ['agent'] })
    const old = await s.submit(flow, 'old')
    await s.advance('1s')
    const fresh = await s.submit(flow, 'fresh')
    await s.advance('1s')
    gate.resolve('of a time that never was')
    await s.advance('10s')
    expect(await fresh.status()).toMatchObject({ outcome: 'success', output: 'fresh' })
    await s.advance('5m')
    expect(await old.status()).toMatchObject({ outcome: 'success', output: 'old' })
  })
})

describe('roles in processes of their own', () => {
  it('run a task through queue and inbox: steps, retries, timeouts, each outcome recorded once', async () => {
    using t = town()
    await using client = await t.node('supervisor')
    await using _scheduler = await t.node('scheduler')
    await using _agent = await t.node('agent')
    const task = await client.submit(t.flow, ['plain', 'flaky', 'hang', 'plain'])
    await client.advance('3m')
    expect(await task.result()).toEqual(['plain done', 'flaky done', 'hang done', 'plain done'])
    expect(t.log).toEqual(['plain 1', 'flaky 1', 'flaky 2', 'flaky 3', 'hang 1', 'hang aborted', 'hang 2', 'plain 1'])
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(4)
    expect(await client.store.counts()).toMatchObject({ work: 0, inbox: 0 })
  })

  it('share wide work among agents, never more at a time than each allows', async () => {
    using t = town()
    await using client = await t.node('supervisor', 'scheduler')
    await using _one = await t.node('agent')
    await using _two = await t.node('agent')
    const task = await client.submit(t.wide, 50)
    await client.advance('1m')
    expect(await task.result()).toBe(50)
    expect(t.load.most).toBe(4)
    expect(new Set((await eventsOf(task, 'stepCompleted')).map((event) => event.node)).size).toBe(2)
  })

  it('survive the death of an agent: what it ran is known as lost, and another takes it', async () => {
    using t = town()
    await using client = await t.node('supervisor', 'scheduler')
    const first = await t.node('agent')
    const task = await client.submit(t.flow, ['hang'])
    await client.advance('1s')
    expect(t.log).toEqual(['hang 1'])
    await first.kill()
    await using _second = await t.node('agent')
    await client.advance('10s')
    expect(await task.result()).toEqual(['hang done'])
    expect((await eventsOf(task, 'attemptFailed'))[0]).toMatchObject({ unknown: true, error: { code: 'STEP_LOST' } })
  })

  it('survive the death of a scheduler: its tasks go on elsewhere while its steps go on where they are', async () => {
    using t = town()
    await using client = await t.node('supervisor')
    await using _agent = await t.node('agent')
    const first = await t.node('scheduler')
    const task = await client.submit(t.flow, ['plain', 'hang', 'plain'])
    await client.advance('2s')
    await first.kill()
    await using _second = await t.node('scheduler')
    await client.advance('2m')
    expect(await task.result()).toEqual(['plain done', 'hang done', 'plain done'])
    expect(t.log).toEqual(['plain 1', 'hang 1', 'hang aborted', 'hang 2', 'plain 1'])
  })

  it.each(['handed over', 'lost'])(
    'begin no attempt again whose answer waits for a task that was %s, however many do',
    async (how) => {
      using t = town()
      await using client = await t.node('supervisor')
      const first = await t.node('scheduler')
      const task = await client.submit(t.crowd, 450)
      await client.advance('2s')
      if (how === 'lost') await first.kill()
      else await first.engine.stop()
      const agent = await t.node('agent')
      await client.advance('5s')
      expect(t.log).toHaveLength(450)
      expect(await client.store.counts()).toMatchObject({ work: 0, inbox: 450 })
      await using _second = await t.node('scheduler')
      await client.advance('20s')
      expect(await task.result()).toBe(450)
      await agent.leave()
      expect(t.log).toHaveLength(450)
    },
  )

  it('carry a cancel to the step that runs, and the undo of those before to an agent', async () => {
    using t = town()
    await using client = await t.node('supervisor')
    await using _scheduler = await t.node('scheduler')
    await using _agent = await t.node('agent')
    const task = await client.submit(t.flow, ['plain', 'obedient'])
    await client.advance('2s')
    await task.cancel()
    await client.advance('10s')
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(t.log).toEqual(['plain 1', 'obedient 1', 'obedient aborted', '-plain'])
  })

  it('withdraw a step that no agent took yet', async () => {
    using t = town()
    await using client = await t.node('supervisor', 'scheduler')
    const task = await client.submit(t.flow, ['plain'])
    await client.advance('2s')
    await task.cancel()
    await client.advance('2s')
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    await using _agent = await t.node('agent')
    await client.advance('10s')
    expect(t.log).toEqual([])
  })

  it('hand the lead to another supervisor when the leader goes', async () => {
    using t = town()
    const first = await t.node('supervisor')
    await using second = await t.node('supervisor')
    await using client = await t.node('scheduler')
    await first.kill()
    const task = await client.submit(t.flow, ['plain'], { completeBy: '5s' })
    await client.kill()
    await second.advance('20s')
    await using third = await t.node('scheduler')
    await third.advance('2s')
    expect(await codeOf(third.engine.tasks.get(task.id).result())).toBe('TASK_FAILED')
  })
})
