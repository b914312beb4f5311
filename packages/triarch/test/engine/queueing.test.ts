import { describe, expect, it } from 'vitest'
import { Backlog } from '../../src/flow/backlog.ts'
import { type AgentOptions, agent, type Role, type TaskContext, workflow } from '../../src/index.ts'
import { agedRank } from '../../src/policy/line.ts'
import type { TakeWork } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { raises } from '../value/raises.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** An agent each of whose attempts takes a second, and tasks of so many steps, one after the other. */
function shop(environment: VirtualEnvironment, options: AgentOptions) {
  const begun: string[] = []
  const desk = agent('desk', options)
  const serve = desk.action('serve', {
    attemptWithin: '1d',
    run: async (what: string) => {
      begun.push(what)
      await new Promise<void>((resolve) => environment.timer(1_000, resolve))
    },
  })
  const visit = workflow('visit', {
    async run({ who, steps }: { who: string; steps: number }, task: TaskContext) {
      for (let n = 0; n < steps; n++) await task.run(serve, who)
    },
  })
  return { begun, agents: [desk], workflows: [visit], visit }
}

const all: Role[] = ['scheduler', 'agent', 'supervisor']
const common = { poll: '100ms', lease: '1d', sweep: '1h' } as const

describe('the queue of an agent with fairness', () => {
  it.each([
    ['in the process of the tasks', all],
    ['in a process of its own', ['scheduler', 'supervisor'] as Role[]],
  ])(
    'keeps one task of a quiet tenant waiting for a few services, whatever waits of a loud one: %s',
    async (_, roles) => {
      using file = scratch()
      const environment = new VirtualEnvironment()
      const fairness = { key: ({ tags }: { tags: Readonly<Record<string, string>> }) => tags.tenant ?? '' }
      const { begun, agents, workflows, visit } = shop(environment, { concurrency: 2, fairness })
      const given = { ...common, store: file.store, environment, workflows }
      await using s = await stage({ ...given, roles, agents })
      await using _agent = roles === all ? null : await stage({ ...given, roles: ['agent'], agents })
      for (let n = 0; n < 200; n++) await s.submit(visit, { who: 'loud', steps: 3 }, { tags: { tenant: 'loud' } })
      await s.advance('10s')
      const before = begun.length
      const task = await s.submit(visit, { who: 'quiet', steps: 2 }, { tags: { tenant: 'quiet' } })
      await s.advance('8s')
      expect((await task.status()).outcome).toBe('success')
      expect(begun.slice(before, before + 5)).toContain('quiet')
      await task.result()
    },
  )

  it('gives tenants slots by their weights, and goes on where whose it is cannot be told', async () => {
    const environment = new VirtualEnvironment()
    const fairness = {
      key: ({ tags }: { tags: Readonly<Record<string, string>> }) => {
        if (tags.tenant === undefined) throw new Error('whose?')
        return tags.tenant
      },
      weight: (tenant: string) => (tenant === 'gold' ? 3 : 1),
    }
    const { begun, agents, workflows, visit } = shop(environment, { concurrency: 1, fairness })
    const told: unknown[] = []
    await using s = await stage({ ...common, environment, agents, workflows, onError: (error) => told.push(error) })
    await s.submit(visit, { who: 'first', steps: 1 }, { tags: { tenant: 'first' } })
    for (const tenant of ['gold', 'plain'])
      for (let n = 0; n < 40; n++) await s.submit(visit, { who: tenant, steps: 1 }, { tags: { tenant } })
    await s.submit(visit, { who: 'nobody', steps: 1 })
    await s.advance('41s')
    const first = begun.slice(1, 41)
    expect(first.filter((who) => who === 'gold').length).toBeGreaterThanOrEqual(28)
    expect(first.filter((who) => who === 'plain').length).toBeGreaterThanOrEqual(8)
    expect(first).toContain('nobody')
    expect(told).toEqual([expect.objectContaining({ message: 'whose?' })])
  })
})

describe('the line of ready tasks with fairness', () => {
  const byTenant = { key: ({ tags }: { tags: Readonly<Record<string, string>> }) => tags.tenant ?? '' }

  /** Tasks that take a second each, and one that starts many of them. */
  function office(environment: VirtualEnvironment) {
    const begun: string[] = []
    const visit = workflow('visit', {
      run: (who: string, task: TaskContext) =>
        task.run('serve', async () => {
          begun.push(who)
          await new Promise<void>((resolve) => environment.timer(1_000, resolve))
        }),
    })
    const crowd = workflow('crowd', {
      async run({ who, size }: { who: string; size: number }, task: TaskContext) {
        await Promise.all(Array.from({ length: size }, () => task.call(visit, who)))
      },
    })
    return { begun, visit, crowd, workflows: [visit, crowd] }
  }

  it.each([
    ['that it submitted', false],
    ['that a task of its own started', true],
  ])(
    'takes the single task of a quiet tenant after a few others, whatever waits of a loud one: %s',
    async (_, started) => {
      const environment = new VirtualEnvironment()
      const { begun, visit, crowd, workflows } = office(environment)
      const options = { ...common, environment, workflows, limits: { tasks: 3 }, fairness: byTenant }
      await using s = await stage(options)
      const loud = { tags: { tenant: 'loud' } }
      if (started) await s.submit(crowd, { who: 'loud', size: 100 }, loud)
      else for (let n = 0; n < 100; n++) await s.submit(visit, 'loud', loud)
      await s.advance('10s')
      const before = begun.length
      expect(before).toBeGreaterThan(5)
      const task = await s.submit(visit, 'quiet', { tags: { tenant: 'quiet' } })
      await s.advance('8s')
      expect((await task.status()).outcome).toBe('success')
      expect(begun.slice(before, before + 8)).toContain('quiet')
    },
  )

  it.each([
    ['their code', 4, {}],
    ['operators', 1, { gold: 4 }],
  ])('takes of each tenant by its weight, as %s gives it', async (_, coded, weights) => {
    const environment = new VirtualEnvironment()
    const { begun, visit, workflows } = office(environment)
    const fairness = { ...byTenant, weight: (tenant: string) => (tenant === 'gold' ? coded : 1) }
    await using s = await stage({ ...common, environment, workflows, limits: { tasks: 1 }, fairness })
    const engine = s.engine.triarch.settings.get('triarch.engine')
    await engine.set({ weights }, { reason: 'a test', actor: 'ada' })
    // All that follow wait in the line of ready tasks: there is room for one task.
    await s.submit(visit, 'first', { tags: { tenant: 'first' } })
    await s.settle()
    for (let n = 0; n < 20; n++)
      for (const tenant of ['plain', 'gold']) await s.submit(visit, tenant, { tags: { tenant } })
    await s.advance('22s')
    const taken = begun.slice(1, 21)
    expect(taken).toHaveLength(20)
    expect(taken.filter((who) => who === 'gold')).toHaveLength(16)
    await s.kill()
  })

  it('asks whose it is once, goes on where that cannot be told, and keeps it with what a schedule starts', async () => {
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment)
    const told: unknown[] = []
    const key = ({ id, tags }: { id: string; tags: Readonly<Record<string, string>> }) => {
      if (id === 'whose') throw new Error('whose?')
      return tags.tenant ?? id
    }
    const weight = () => 2
    const onError = (error: unknown) => told.push(error)
    await using s = await stage({ ...common, sweep: '1s', environment, workflows, fairness: { key, weight }, onError })
    await s.submit(visit, 'x', { id: 'whose' })
    await s.submit(visit, 'x', { id: 'mine' })
    const daily = { workflow: visit, input: 'x', every: '10s', tags: { tenant: 'gold' } } as const
    await s.engine.triarch.schedules.get('nightly').register(daily)
    await s.advance('15s')
    const shares = async (id: string) => (await s.store.records(id, 0, 1))[0]?.events
    expect(await shares('whose')).toContain('"share":{"key":"","weight":1}')
    expect(await shares('mine')).toContain('"share":{"key":"mine","weight":2}')
    const { tasks } = await s.engine.triarch.tasks.list({ filter: 'tag.schedule:nightly' })
    expect(await shares(tasks[0]?.id ?? '')).toContain('"share":{"key":"gold","weight":2}')
    expect(told).toEqual([expect.objectContaining({ message: 'whose?' })])
  })

  it('is refused where it makes no sense', async () => {
    const { workflows } = office(new VirtualEnvironment())
    for (const fairness of [{}, { key: 'tenant' }, { key: () => '', weight: 1 }])
      await expect(stage({ workflows, fairness: fairness as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('the line of ready tasks with ageing', () => {
  it.each([
    ['10s', true],
    [undefined, false],
  ] as const)(
    'takes up what waited for long before what is more urgent and came later (%s: %s)',
    async (ageing, taken) => {
      const environment = new VirtualEnvironment()
      const begun: string[] = []
      const visit = workflow('visit', {
        run: (who: string, task: TaskContext) =>
          task.run('serve', async () => {
            begun.push(who)
            await new Promise<void>((resolve) => environment.timer(1_000, resolve))
          }),
      })
      const options = { ...common, environment, workflows: [visit], limits: { tasks: 1 }, ...(ageing && { ageing }) }
      await using s = await stage(options)
      await s.submit(visit, 'urgent', { priority: 3 })
      await s.submit(visit, 'patient', { priority: 0 })
      for (let second = 0; second < 90; second++) {
        for (let n = 0; n < 2; n++) await s.submit(visit, 'urgent', { priority: 3 })
        await s.advance('1s')
        if (second === 20) expect(begun).not.toContain('patient')
      }
      expect(begun.includes('patient')).toBe(taken)
      await s.kill()
    },
  )

  it('is refused beside fairness, and where it makes no sense', async () => {
    const fairness = { key: () => '' }
    for (const given of [{ ageing: '10s', fairness }, { ageing: '10ms' }, { ageing: '31d' }] as const)
      await expect(stage(given)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('the queue of an agent with ageing', () => {
  it.each([
    ['10s', true],
    [undefined, false],
  ] as const)(
    'serves what waited for long before what is more urgent and came later (%s: %s)',
    async (ageing, served) => {
      const environment = new VirtualEnvironment()
      const { begun, agents, workflows, visit } = shop(environment, { concurrency: 1, ...(ageing && { ageing }) })
      await using s = await stage({ ...common, environment, agents, workflows })
      await s.submit(visit, { who: 'urgent', steps: 1 }, { priority: 3 })
      await s.submit(visit, { who: 'patient', steps: 1 }, { priority: 0 })
      for (let second = 0; second < 75; second++) {
        for (let n = 0; n < 2; n++) await s.submit(visit, { who: 'urgent', steps: 1 }, { priority: 3 })
        await s.advance('1s')
        if (second === 25) expect(begun).not.toContain('patient')
      }
      expect(begun.includes('patient')).toBe(served)
    },
  )

  it('orders by a number that does not change: at any instant, by priority and age', () => {
    const waits = [
      { priority: 0, since: Date.UTC(2026, 3, 1) },
      { priority: 2, since: Date.UTC(2026, 3, 1, 0, 25) },
      { priority: -1, since: Date.UTC(2026, 2, 31, 23, 45) },
      { priority: 1_000_000, since: Date.UTC(2030, 1, 1) },
    ]
    const [span, now] = [600_000, Date.UTC(2031, 1, 1)]
    const levels = waits.map(({ priority, since }) => priority + (now - since) / span)
    const ranks = waits.map(({ priority, since }) => agedRank(priority, since, span))
    const order = (of: number[]) => [...of.keys()].sort((a, b) => (of[b] as number) - (of[a] as number))
    expect(order(ranks)).toEqual(order(levels))
    expect(agedRank(1_000_000, 0, 30 * 86_400_000)).toBe(2 ** 31 - 1)
    expect(agedRank(-1_000_000, Date.UTC(2300, 1, 1), 30 * 86_400_000)).toBe(-(2 ** 31 - 1))
  })
})

describe('a step that its own process could begin at once', () => {
  it('does not pass what waits in the queue with a higher priority, which came from another process', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const { begun, agents, workflows, visit } = shop(environment, { concurrency: 4 })
    const given = { ...common, store: file.store, environment, workflows }
    // While its queue is asked, most of the slots that become free are anybody's.
    const store: typeof file.store = (...of) => {
      const inner = file.store(...of)
      return new Proxy(inner, {
        get: (_, name) => {
          const own = Reflect.get(inner, name, inner)
          if (name !== 'takeWork') return typeof own === 'function' ? own.bind(inner) : own
          return async (request: TakeWork) => {
            const items = await inner.takeWork(request)
            await new Promise<void>((resolve) => environment.timer(400, resolve))
            return items
          }
        },
      })
    }
    await using busy = await stage({ ...given, store, roles: all, agents })
    for (let n = 0; n < 12; n++) await busy.submit(visit, { who: 'usual', steps: 20 })
    await using other = await stage({ ...given, roles: ['scheduler'], agents: [] })
    await busy.advance('5s')
    const from = begun.length
    for (let n = 0; n < 20; n++) await other.submit(visit, { who: 'urgent', steps: 1 }, { priority: 5 })
    await busy.advance('15s')
    const urgent = begun.slice(from).lastIndexOf('urgent')
    expect(begun.slice(from).filter((who) => who === 'urgent')).toHaveLength(20)
    // One round begins before anybody heard of them, and one while the queue is asked.
    expect(begun.slice(from, from + urgent).filter((who) => who === 'usual').length).toBeLessThanOrEqual(8)
  })

  it('waits behind what may wait, and not longer than that', () => {
    const backlog = new Backlog({ strict: false })
    expect(backlog.empty && backlog.admits(-5)).toBe(true)
    backlog.queued(3)
    expect([backlog.empty, backlog.admits(2), backlog.admits(3)]).toEqual([false, false, true])
    backlog.asked()
    backlog.taken([9, 3, 4], true)
    expect([backlog.admits(2), backlog.admits(3)]).toEqual([false, true])
    backlog.asked()
    backlog.queued(5)
    backlog.taken([3], false)
    expect([backlog.admits(4), backlog.admits(5)]).toEqual([false, true])
    backlog.asked()
    backlog.taken([], false)
    expect(backlog.empty).toBe(true)
    const shared = new Backlog({ strict: true })
    shared.queued(0)
    expect(shared.admits(100)).toBe(false)
  })
})

describe('what an agent says of its queue', () => {
  it('is refused where it makes no sense', () => {
    const key = () => ''
    raises('INVALID_OPTION', () => agent('a', { ageing: '1m', fairness: { key } }))
    raises('INVALID_OPTION', () => agent('a', { ageing: '1ms' }))
    raises('INVALID_OPTION', () => agent('a', { ageing: '31d' }))
    raises('INVALID_DURATION', () => agent('a', { ageing: 'soon' as never }))
    raises('INVALID_OPTION', () => agent('a', { fairness: {} as never }))
    raises('UNKNOWN_OPTION', () => agent('a', { fairness: { key, wieght: key } as never }))
    raises('INVALID_OPTION', () => agent('a', { fairness: { key, weight: 3 as never } }))
    expect(agent('a', { fairness: { key } }).fairness).toEqual({ key })
  })
})
