import { describe, expect, it } from 'vitest'
import { agent, type TaskContext, workflow } from '../../src/index.ts'
import { checkFold, childOf, eventsOf, stage } from '../engine/harness.ts'

const own = agent('own', { concurrency: 100 })
const work = own.action('work', { run: (n: number) => n, undo: () => undefined, finalize: () => undefined })

/** Runs under the lock that its input names. */
const child = workflow('child', {
  rescue: 'fail',
  exclusive: { key: (name: string) => name },
  run: async (name: string, task: TaskContext) => task.run(work, name.length),
})

describe('a parent that has a lock', () => {
  it('hears at once that the child it waits for can never have it', async () => {
    const parent = workflow('parent', {
      rescue: 'fail',
      async run(_: null, task: TaskContext) {
        await task.lock('x')
        return task.call(child, 'x')
      },
    })
    await using s = await stage({ workflows: [parent, child], agents: [own] })
    const task = await s.submit(parent, null, { id: 'p' })
    await s.settle()
    const { error } = await task.status()
    expect(JSON.stringify(error)).toContain('LOCK_DEADLOCK')
    const [stopped] = await eventsOf(s.engine.tasks.get(await childOf(s, 'p', 2)), 'lockRefused')
    expect(stopped?.error).toMatchObject({ details: { lock: 'x', by: ['p'], parent: 'p' } })
    expect(stopped?.error.message).toContain('task "p", which waits for the end of this one')
    expect(await s.store.locks({ name: 'x' })).toEqual([])
    await checkFold(s.store, await childOf(s, 'p', 2))
  })

  it('may start a child that waits until it is done', async () => {
    const parent = workflow('parent', {
      async run(_: null, task: TaskContext) {
        await task.lock('x')
        await task.start(child, 'x')
        await task.sleep('1h')
      },
    })
    await using s = await stage({ workflows: [parent, child], agents: [own] })
    await s.submit(parent, null, { id: 'p' })
    await s.advance('30m')
    expect(await s.store.locks({ name: 'x' })).toMatchObject([
      { task: 'p', held: true },
      { task: await childOf(s, 'p', 2) },
    ])
    await s.advance('31m')
    expect((await s.engine.tasks.get(await childOf(s, 'p', 2)).status()).outcome).toBe('success')
  })

  it('hears it of grandchildren, of plans, and of what its child waits for in others', async () => {
    const taker = workflow('taker', {
      rescue: 'fail',
      async run(names: string[], task: TaskContext) {
        for (const name of names) await task.lock(name)
        await task.sleep('1h')
      },
    })
    const planned = workflow('planned', {
      rescue: 'fail',
      plan: (name: string, plan) => plan.lock(name, () => void plan.step(work, 1)),
    })
    const middle = workflow('middle', {
      rescue: 'fail',
      run: (name: string, task: TaskContext) => task.call(planned, name),
    })
    const parent = workflow('parent', {
      rescue: 'fail',
      exclusive: { key: 'x' },
      run: (name: string, task: TaskContext) => task.call(middle, name),
    })
    await using s = await stage({ workflows: [parent, middle, planned, taker], agents: [own] })
    const direct = await s.submit(parent, 'x', { id: 'p' })
    await s.settle()
    expect(JSON.stringify((await direct.status()).error)).toContain('LOCK_DEADLOCK')
    // The other way round: t has y and wants x, which p has; p's grandchild wants y.
    const t = await s.submit(taker, ['y'], { id: 't' })
    await s.settle()
    const through = await s.submit(parent, 'y', { id: 'q' })
    await s.settle()
    expect((await through.status()).status).toBe('running')
    const u = await s.submit(taker, ['z', 'x'], { id: 'u' })
    await s.advance('3h')
    expect([(await t.status()).outcome, (await u.status()).outcome, (await through.status()).outcome]).toEqual(
      Array(3).fill('success'),
    )
  })

  it('hears it of the children of a batch', async () => {
    const parent = workflow('parent', {
      rescue: 'fail',
      exclusive: { key: 'x' },
      run: (names: string[], task: TaskContext) =>
        task.batch('all', { workflow: child, items: names, tolerate: 'any', failFast: false }),
    })
    await using s = await stage({ workflows: [parent, child], agents: [own] })
    const task = await s.submit(parent, ['x', 'y', 'x'])
    await s.settle()
    expect(await task.result()).toEqual({ total: 3, success: 1, failed: 2, cancelled: 0 })
  })
})

describe('a batch whose children are not to wait', () => {
  const impatient = workflow('impatient', {
    rescue: 'fail',
    exclusive: { key: (name: string) => name, ifHeld: 'reject' },
    run: async (_: string, task: TaskContext) => {
      await task.sleep('1m')
      return task.run(work, 1)
    },
  })
  const parent = workflow('parent', {
    run: (names: string[], task: TaskContext) =>
      task.batch('all', { workflow: impatient, items: names, tolerate: 'any', failFast: false }),
  })

  it('ends, and counts those that were refused as failed', async () => {
    await using s = await stage({ workflows: [parent, impatient], agents: [own] })
    const holder = await s.submit(impatient, 'x', { id: 'h' })
    const task = await s.submit(parent, ['x', 'y', 'y', 'z', 'x'], { id: 'p' })
    await s.advance('5m')
    expect(await task.result()).toEqual({ total: 5, success: 2, failed: 3, cancelled: 0 })
    expect((await holder.status()).outcome).toBe('success')
    await checkFold(s.store, 'p')
  })

  it('undoes the sibling that had the lock, and can be cancelled', async () => {
    const undone: number[] = []
    const lane = agent('lane', { concurrency: 100 })
    const step = lane.action('step', {
      run: (n: number) => n,
      undo: ({ output }) => void undone.push(output as number),
    })
    const one = workflow('one', {
      exclusive: { key: () => 'x', ifHeld: 'reject' },
      run: async (n: number, task: TaskContext) => {
        await task.run(step, n)
        await task.sleep('1h')
      },
    })
    const all = workflow('all', {
      run: (numbers: number[], task: TaskContext) =>
        task.batch('all', { workflow: one, items: numbers, tolerate: 'any', failFast: false }),
    })
    await using s = await stage({ workflows: [all, one], agents: [lane] })
    const task = await s.submit(all, [1, 2, 3], { id: 'p' })
    await s.settle()
    await task.cancel()
    await s.settle()
    expect((await task.status()).status).toBe('stopped')
    expect(undone).toEqual([1])
    expect(await s.store.locks({ name: 'x' })).toEqual([])
  })
})

describe('a task that stops as it asks for a lock', () => {
  it('never has it', async () => {
    const careless = workflow('careless', {
      async run(_: null, task: TaskContext) {
        task.lock('x').catch(() => undefined)
      },
    })
    const cancelled = workflow('cancelled', {
      async run(_: null, task: TaskContext) {
        await task.waitForSignal('go')
        await task.lock('x')
        await task.sleep('1h')
      },
    })
    await using s = await stage({ workflows: [careless, cancelled], agents: [own] })
    await s.submit(careless, null)
    const task = await s.submit(cancelled, null)
    await s.settle()
    await Promise.all([task.signal('go'), task.cancel()])
    await s.settle()
    expect((await task.status()).status).toBe('stopped')
    expect(await s.store.locks({ name: 'x' })).toEqual([])
  })
})

describe('the number of a lock', () => {
  it('is the task’s and its steps’, rises with each grant, and is the same on replay', async () => {
    const seen: [string, number | undefined][] = []
    const tell = own.action('tell', { run: (who: string, { fence }) => void seen.push([who, fence]) })
    const flow = workflow('flow', {
      exclusive: { key: 'k' },
      async run(who: string, task: TaskContext) {
        const lock = await task.lock('x')
        seen.push([`${who} lock`, lock.fence])
        await task.run(tell, who)
        await task.sleep('1h')
      },
    })
    const free = workflow('free', { run: (_: null, task: TaskContext) => task.run(tell, 'free') })
    await using s = await stage({ workflows: [flow, free], agents: [own] })
    await s.submit(flow, 'a')
    await s.submit(flow, 'b')
    await s.submit(free, null)
    await s.advance('3h')
    const of = (who: string) => [...new Set(seen.filter(([name]) => name === who).map(([, fence]) => fence))]
    expect(of('free')).toEqual([undefined])
    // Replayed after its sleep, the code has seen it twice, and the same.
    expect(seen.filter(([name]) => name === 'a lock').length).toBeGreaterThan(1)
    expect([of('a lock').length, of('b lock').length]).toEqual([1, 1])
    expect(of('a')).toEqual(of('a lock'))
    expect(of('b')[0]).toBeGreaterThan(of('a')[0] as number)
  })
})
