import { describe, expect, it } from 'vitest'
import { agent, TransientError, workflow } from '../../src/index.ts'
import { codeOf, stage } from './harness.ts'

function bank(options: Parameters<typeof agent>[1] = {}) {
  const waiting: ((fails: boolean) => void)[] = []
  const pay = agent('bank', { concurrency: 2, ...options })
  const charge = pay.action('charge', {
    run: async () => {
      if (await new Promise<boolean>((resolve) => waiting.push(resolve))) throw new TransientError('no')
    },
  })
  const order = workflow('order', { run: (_: null, task) => task.run(charge) })
  const end = (fails = false) => {
    for (const done of waiting.splice(0)) done(fails)
  }
  return { pay, order, end }
}

describe('demand', () => {
  it('tells what runs and waits, since when, and grows with the age of what waits', async () => {
    const { pay, order, end } = bank()
    await using s = await stage({ workflows: [order], agents: [pay], lease: '6s' })
    const { triarch, environment } = s.engine
    const asked = environment.now()
    const tasks = await Promise.all(Array.from({ length: 20 }, (_, n) => s.submit(order, null, { id: `o-${n}` })))
    await s.advance('10s')
    const early = await triarch.nodes.demand({ within: '1m' })
    expect(early).toEqual({
      agents: [
        {
          ...{ agent: 'bank', waiting: 18, since: new Date(asked), running: 2 },
          ...{ has: { slots: 2, processes: 1 }, wanted: { slots: 3, processes: 2 } },
        },
      ],
      schedulers: [
        {
          ...{ workflow: 'order', version: '1', waiting: 0, running: 20 },
          has: { slots: expect.any(Number), processes: 1 },
          wanted: { slots: 20, processes: 1 },
        },
      ],
    })
    await s.advance('2m')
    const [late] = (await triarch.nodes.demand({ within: '1m' })).agents
    expect(late?.wanted).toEqual({ slots: 7, processes: 4 })
    for (let round = 0; round < 10; round++) {
      end()
      await s.advance('10s')
    }
    await Promise.all(tasks.map((task) => task.result()))
    await s.advance('10s')
    const { agents, schedulers } = await triarch.nodes.demand()
    expect([agents[0]?.wanted, schedulers[0]?.wanted]).toEqual(Array(2).fill({ slots: 0, processes: 0 }))
  })

  it('asks for no more where processes would not help: a breaker is open, a rate is used up, as many run as may', async () => {
    const cases: [string, Parameters<typeof agent>[1]][] = [
      ['breaker', { circuitBreaker: { minimum: 1, window: '30s', open: '1h', openMax: '1h' } }],
      ['rate', { rateLimit: { limit: 1, per: '1h' } }],
      ['concurrency', { concurrency: { shared: 1, each: 2 } }],
    ]
    for (const [by, options] of cases) {
      const { pay, order, end } = bank(options)
      await using s = await stage({ workflows: [order], agents: [pay], lease: '6s' })
      for (let n = 0; n < 9; n++) await s.submit(order, null, { id: `o-${n}` })
      await s.advance('5s')
      if (by === 'breaker') end(true)
      await s.advance('5m')
      const [of] = (await s.engine.triarch.nodes.demand({ within: '1s' })).agents
      expect(of, by).toMatchObject({ held: { by } })
      expect(of?.wanted.slots, by).toBe(of?.running)
    }
  })

  it('asks for processes by the pool that is full, however many slots the other has', async () => {
    const { pay, order, end } = bank({ concurrency: undefined as never, pools: { high: 8, rest: 2 } })
    await using s = await stage({ workflows: [order], agents: [pay], lease: '6s' })
    const { triarch } = s.engine
    for (let n = 0; n < 20; n++) await s.submit(order, null, { id: `o-${n}` })
    await s.advance('1m')
    // Two of ten slots run, and no more can: twice as many of the rest are two processes, though ten slots are one.
    const [full] = (await triarch.nodes.demand({ within: '1m' })).agents
    expect(full).toMatchObject({ waiting: 18, running: 2, has: { slots: 10, processes: 1 }, wanted: { processes: 2 } })
    expect(full?.wanted.slots).toBeLessThan(6)
    for (let n = 0; n < 8; n++) await s.submit(order, null, { id: `urgent-${n}`, priority: 1 })
    await s.advance('1m')
    const [both] = (await triarch.nodes.demand({ within: '2m' })).agents
    expect(both).toMatchObject({ running: 10, wanted: { processes: 2 } })
    for (let round = 0; round < 12; round++) {
      end()
      await s.advance('10s')
    }
    const [idle] = (await triarch.nodes.demand()).agents
    expect(idle?.wanted ?? { slots: 0, processes: 0 }).toEqual({ slots: 0, processes: 0 })
  })

  it('asks for a process where none lives that could do it', async () => {
    const { order } = bank()
    await using s = await stage({ workflows: [order], agents: [], roles: ['agent'] })
    await s.submit(order, null, { id: 'o' })
    await s.advance('1s')
    const { schedulers } = await s.engine.triarch.nodes.demand()
    expect(schedulers).toMatchObject([{ waiting: 1, has: { processes: 0 }, wanted: { processes: 1 } }])
  })

  it('asks for one process, however long work has waited, for an agent and a workflow that no process runs', async () => {
    const { pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay], roles: ['scheduler', 'supervisor'], lease: '6s' })
    for (let n = 0; n < 20; n++) await s.submit(order, null, { id: `o-${n}` })
    await s.advance('10m')
    const { agents } = await s.engine.triarch.nodes.demand({ within: '1m' })
    const one = { slots: 1, processes: 1 }
    expect(agents).toMatchObject([{ waiting: 20, running: 0, has: { processes: 0 }, wanted: one }])
    await using idle = await stage({ workflows: [order], agents: [pay], roles: ['agent'] })
    for (let n = 0; n < 20; n++) await idle.submit(order, null, { id: `o-${n}` })
    await idle.advance('10m')
    const { schedulers } = await idle.engine.triarch.nodes.demand({ within: '1m' })
    expect(schedulers).toMatchObject([{ waiting: 20, has: { processes: 0 }, wanted: one }])
  })

  it('refuses what it does not know, and waits that are none', async () => {
    await using s = await stage({})
    const { triarch } = s.engine
    expect(await codeOf(triarch.nodes.demand({ within: 1 }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.nodes.demand({ within: 'soon' as never }))).toBe('INVALID_DURATION')
    expect(await codeOf(triarch.nodes.demand({ per: 1 } as never))).toBe('UNKNOWN_OPTION')
  })
})
