import { describe, expect, it } from 'vitest'
import { PooledBacklog } from '../../src/flow/backlog.ts'
import { type AgentOptions, agent, connectAgents, type Role, type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { raises } from '../value/raises.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

const common = { poll: '100ms', lease: '1d', sweep: '1h' } as const
const all: Role[] = ['scheduler', 'agent', 'supervisor']

/** An agent whose attempts take as long as they are told, and tasks of one of them. */
function desk(environment: VirtualEnvironment, options: AgentOptions) {
  const running = { high: 0, rest: 0 }
  const most = { high: 0, rest: 0 }
  const begun: string[] = []
  const service = agent('service', options)
  const serve = service.action('serve', {
    attemptWithin: '1d',
    run: async ({ who, ms }: { who: 'high' | 'rest'; ms: number }) => {
      begun.push(who)
      most[who] = Math.max(most[who], ++running[who])
      await new Promise<void>((resolve) => environment.timer(ms, resolve))
      running[who]--
    },
  })
  const visit = workflow('visit', {
    run: (input: { who: 'high' | 'rest'; ms: number }, task: TaskContext) => task.run(serve, input),
  })
  return { running, most, begun, agents: [service], workflows: [visit], visit }
}

describe('an agent whose slots are parted by priority', () => {
  it.each([
    ['in the process of the tasks', all],
    ['in a process of its own', ['scheduler', 'supervisor'] as Role[]],
  ])(
    'serves what is urgent at once, however much of the rest there is, and never more of either than its pool: %s',
    async (_, roles) => {
      using file = scratch()
      const environment = new VirtualEnvironment()
      const { running, most, agents, workflows, visit } = desk(environment, { pools: { high: 2, rest: 3 } })
      const given = { ...common, store: file.store, environment, workflows }
      await using s = await stage({ ...given, roles, agents })
      await using _agent = roles === all ? null : await stage({ ...given, roles: ['agent'], agents })
      for (let n = 0; n < 30; n++) await s.submit(visit, { who: 'rest', ms: 10_000 })
      await s.advance('5s')
      expect(running).toEqual({ high: 0, rest: 3 })
      const urgent = await s.submit(visit, { who: 'high', ms: 1_000 }, { priority: 1 })
      await s.advance('2s')
      expect((await urgent.status()).outcome).toBe('success')
      // And the other way round: a crowd of what is urgent leaves the rest its slots.
      for (let n = 0; n < 20; n++) await s.submit(visit, { who: 'high', ms: 10_000 }, { priority: 3 })
      await s.advance('5s')
      expect(running).toEqual({ high: 2, rest: 3 })
      await s.advance('11s')
      expect(running).toEqual({ high: 2, rest: 3 })
      await s.advance('2m')
      expect(running).toEqual({ high: 0, rest: 0 })
      expect(most).toEqual({ high: 2, rest: 3 })
    },
  )

  it('counts the priority of the step and of its task together, from where it is told', async () => {
    const environment = new VirtualEnvironment()
    const { begun, agents, workflows, visit } = desk(environment, { pools: { high: 1, rest: 1, from: 10 } })
    await using s = await stage({ ...common, environment, agents, workflows })
    await s.submit(visit, { who: 'rest', ms: 10_000 }, { priority: 9 })
    await s.submit(visit, { who: 'rest', ms: 1_000 }, { priority: 8 })
    await s.submit(visit, { who: 'high', ms: 1_000 }, { priority: 10 })
    await s.advance('5s')
    expect(begun).toEqual(['rest', 'high'])
    await s.advance('20s')
    expect(begun).toEqual(['rest', 'high', 'rest'])
  })

  it('tells of both pools, and of all its slots', async () => {
    const environment = new VirtualEnvironment()
    const { agents, workflows, visit } = desk(environment, { pools: { high: 2, rest: 3 } })
    await using s = await stage({ ...common, environment, agents, workflows })
    for (let n = 0; n < 5; n++) await s.submit(visit, { who: 'rest', ms: 10_000 })
    await s.advance('1s')
    const { agents: found } = await s.engine.triarch.agents.list()
    expect(found[0]?.nodes[0]).toMatchObject({ slots: 5, pools: { high: 2, rest: 3 } })
    await s.advance('5m')
  })

  it('says of a step in which pool it waits, and how many slots that has on all nodes together', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const { agents, workflows, visit } = desk(environment, { pools: { high: 1, rest: 2, from: 5 } })
    const given = { ...common, store: file.store, environment, workflows, agents }
    await using s = await stage(given)
    await using _other = await stage({ ...given, roles: ['agent'] })
    for (let n = 0; n < 5; n++) await s.submit(visit, { who: 'rest', ms: 10_000 }, { id: `rest ${n}`, priority: 4 })
    for (let n = 0; n < 3; n++) await s.submit(visit, { who: 'high', ms: 10_000 }, { id: `high ${n}`, priority: 5 })
    await s.advance('1s')
    const why = async (id: string) => (await s.engine.triarch.tasks.get(id).explain()).reasons
    expect(await why('rest 4')).toMatchObject([
      {
        ...{ code: 'step-queued', pool: { name: 'rest', from: 5, slots: 4 } },
        text: expect.stringContaining('waits for one of 4 slots for priorities below 5 for step 1'),
      },
    ])
    expect(await why('high 2')).toMatchObject([
      {
        ...{ code: 'step-queued', ahead: 0, pool: { name: 'high', from: 5, slots: 2 } },
        text: expect.stringContaining('waits for one of 2 slots for priorities of 5 and more'),
      },
    ])
    await s.advance('2m')
  })

  it('is refused with what makes no sense, and where there are no priorities', () => {
    const pools = { high: 2, rest: 3 }
    const bad: AgentOptions[] = [
      ...[
        { pools: { high: 0, rest: 3 } },
        { pools: { high: 2, rest: 100_001 } },
        { pools: { high: 2, rest: 1, from: 0.5 } },
      ],
      ...[
        { pools, ageing: '1m' as const },
        { pools, concurrency: 5 },
        { pools, concurrency: { shared: 5, each: 2 } },
      ],
      { pools, concurrency: { shared: 5, adaptive: true } },
    ]
    for (const options of bad) raises('INVALID_OPTION', () => agent('service', options))
    raises('UNKNOWN_OPTION', () => agent('service', { pools: { ...pools, low: 1 } as typeof pools }))
    expect(agent('service', { pools, concurrency: { shared: 4 } })).toMatchObject({ concurrency: 5, shared: 4 })
    raises('INVALID_OPTION', () =>
      connectAgents('https://example.com', { token: 't', agents: [agent('a', { pools })] }),
    )
  })
})

describe('what a process knows of two lines', () => {
  it('keeps no step of one behind what waits in the other', () => {
    const room = { high: 1, rest: 1 }
    const backlog = new PooledBacklog({ strict: false, from: 5, room: (rank) => (rank >= 5 ? room.high : room.rest) })
    backlog.queued(7)
    expect([backlog.admits(6), backlog.admits(7), backlog.admits(0), backlog.empty]).toEqual([false, true, true, false])
    backlog.queued(2)
    expect(backlog.admits(0)).toBe(false)
    room.high = 0
    backlog.asked()
    // The pool of the urgent is full: nothing was asked of it, and what is known stays.
    backlog.taken([2])
    expect([backlog.admits(0), backlog.admits(6)]).toEqual([true, false])
    room.high = 1
    backlog.asked()
    backlog.taken([7])
    expect([backlog.admits(6), backlog.empty]).toEqual([true, true])
  })
})
