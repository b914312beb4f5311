import { describe, expect, it } from 'vitest'
import { agent, TransientError, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, type Stage, stage } from './harness.ts'

/** An agent whose attempts end when they are let, and how many run. */
function bank(options: { shared?: number; each?: number; charges?: number; retry?: number } = {}) {
  const { shared, each, charges } = options
  const seen = { running: 0, most: 0, charges: 0, mostCharges: 0, calls: 0 }
  const waiting: ((fails?: boolean) => void)[] = []
  const pay = agent('bank', { ...(shared && { concurrency: { shared, ...(each && { each }) } }) })
  const meet = async (charge: boolean) => {
    seen.calls++
    seen.most = Math.max(seen.most, ++seen.running)
    if (charge) seen.mostCharges = Math.max(seen.mostCharges, ++seen.charges)
    try {
      const fails = await new Promise<boolean | undefined>((resolve) => waiting.push(resolve))
      if (fails) throw new TransientError('no')
    } finally {
      seen.running--
      if (charge) seen.charges--
    }
  }
  const charge = pay.action('charge', {
    ...(charges && { concurrency: { shared: charges } }),
    run: () => meet(true),
    undo: () => meet(true),
  })
  const look = pay.action('look', { run: () => meet(false) })
  const charged = workflow('charged', { run: (_: null, task) => task.run(charge) })
  const looked = workflow('looked', { run: (_: null, task) => task.run(look) })
  const start = () => stage({ workflows: [charged, looked], agents: [pay] })
  const end = (count: number, fails = false) => {
    for (const done of waiting.splice(0, count)) done(fails)
  }
  return { seen, charged, looked, start, end, waiting }
}

const submit = (s: Stage, of: ReturnType<typeof bank>['charged'], count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => s.submit(of, null, { id: `${of.name}-${n}` })))

describe('an agent with a concurrency that is shared', () => {
  it('runs as many attempts as it says and no more, one after the other, and forgets none', async () => {
    const of = bank({ shared: 3 })
    await using s = await of.start()
    const tasks = await submit(s, of.charged, 10)
    await s.advance('1s')
    expect(of.seen).toMatchObject({ running: 3, calls: 3 })
    for (let ended = 0; ended < 10; ended++) {
      of.end(1)
      await s.advance('1s')
      expect(of.seen.running).toBe(Math.min(3, 10 - ended - 1))
    }
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(10)
    expect(of.seen).toMatchObject({ most: 3, calls: 10 })
  })

  it('goes on at once where one has ended: nobody waits for a poll', async () => {
    const of = bank({ shared: 1 })
    await using s = await of.start()
    const tasks = await submit(s, of.charged, 5)
    for (let n = 0; n < 5; n++) {
      await s.advance('20ms')
      of.end(1)
    }
    await s.advance('20ms')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(5)
  })

  it('costs what waits no attempt and no slot, and explain says how many run and wait', async () => {
    const of = bank({ shared: 2 })
    await using s = await of.start()
    const tasks = await submit(s, of.charged, 6)
    await s.advance('1s')
    const waiting = await Promise.all(tasks.map(async (task) => (await task.explain()).reasons))
    const held = waiting.flat().filter(({ code }) => code === 'concurrency')
    expect(held).toHaveLength(4)
    expect(held[0]).toMatchObject({ limit: 'bank', action: 'bank.charge', running: 2, most: 2, waiting: 4 })
    expect(held[0]?.text).toContain('of bank 2 of 2 are running over all nodes, 4 wait')
    for (let n = 0; n < 6; n++) {
      of.end(1)
      await s.advance('1s')
    }
    for (const task of tasks) expect(await eventsOf(task as never, 'attemptFailed')).toEqual([])
  })

  it('may have an action with a bound of its own, and lets the others use what is left', async () => {
    const of = bank({ shared: 4, charges: 1 })
    await using s = await of.start()
    const charges = await submit(s, of.charged, 4)
    const looks = await submit(s, of.looked, 6)
    await s.advance('1s')
    expect(of.seen).toMatchObject({ running: 4, charges: 1 })
    const all = await Promise.all(charges.map(async (task) => (await task.explain()).reasons))
    expect(all.flat().map(({ code }) => code)).toContain('concurrency')
    for (let n = 0; n < 10; n++) {
      of.end(1)
      await s.advance('1s')
    }
    expect(await Promise.all([...charges, ...looks].map((task) => task.result()))).toHaveLength(10)
    expect(of.seen).toMatchObject({ most: 4, mostCharges: 1 })
  })

  it('runs no more of them in one process than `each` says', async () => {
    const of = bank({ shared: 10, each: 2 })
    await using s = await of.start()
    await submit(s, of.charged, 5)
    await s.advance('1s')
    expect(of.seen.running).toBe(2)
    const [queued] = (await s.engine.triarch.tasks.list({ limit: 100 })).tasks.slice(-1)
    expect(queued).toBeDefined()
    for (let n = 0; n < 5; n++) {
      of.end(1)
      await s.advance('1s')
    }
    expect(of.seen.calls).toBe(5)
  })

  it('counts no attempt that failed while it waits to be tried again', async () => {
    const of = bank({ shared: 1 })
    await using s = await of.start()
    await submit(s, of.charged, 1)
    await s.advance('100ms')
    of.end(1, true)
    await submit(s, of.looked, 1)
    await s.advance('20ms')
    expect(of.seen.running).toBe(1)
    of.end(1)
    await s.advance('5s')
    expect(of.seen.running).toBe(1)
    of.end(1)
    await s.advance('1s')
    expect(of.seen).toMatchObject({ most: 1, calls: 3 })
  })

  it('is changed while it runs, by a setting: also where the code has none', async () => {
    const of = bank()
    await using s = await of.start()
    const setting = s.engine.triarch.settings.get('triarch.agent.bank')
    await setting.set({ concurrency: { shared: 2 } }, { reason: 'the bank asked for it' })
    await s.advance('5s')
    await submit(s, of.charged, 8)
    await s.advance('1s')
    expect(of.seen.running).toBe(2)
    await setting.set({ concurrency: { shared: 5 } }, { reason: 'the bank is well' })
    await s.advance('5s')
    expect(of.seen.running).toBe(5)
    for (let n = 0; n < 8; n++) {
      of.end(1)
      await s.advance('1s')
    }
    expect(of.seen).toMatchObject({ most: 5, calls: 8 })
  })

  it('is told of the agent, as it counts on all nodes together; bounds by key are none', async () => {
    const of = bank()
    await using s = await of.start()
    const shared = async () => (await s.engine.triarch.agents.list()).agents.map((it) => it.shared)
    expect(await shared()).toEqual([undefined])
    const setting = s.engine.triarch.settings.get('triarch.agent.bank')
    await setting.set({ concurrency: { shared: 2 } }, { reason: 'the bank asked for it' })
    await s.advance('5s')
    expect(await shared()).toEqual([2])
    await setting.clear({ reason: 'the bank is well' })
    await s.advance('5s')
    expect(await shared()).toEqual([undefined])
  })

  it('is refused where it makes no sense', async () => {
    const wrong = (concurrency: unknown) => codeOf(Promise.try(() => agent('x', { concurrency } as never)))
    expect(await wrong({ shared: 0 })).toBe('INVALID_OPTION')
    expect(await wrong({ shared: 2, each: 1.5 })).toBe('INVALID_OPTION')
    expect(await wrong({})).toBe('INVALID_OPTION')
    expect(await wrong({ shared: 2, most: 3 })).toBe('UNKNOWN_OPTION')
    expect(await wrong(null)).toBe('INVALID_OPTION')
    const action = () => agent('y').action('a', { concurrency: { shared: -1 }, run: () => 1 })
    expect(await codeOf(Promise.try(action))).toBe('INVALID_OPTION')
  })
})
