import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type TaskHandle, workflow } from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'

/** A shop that writes down what it does, and what it takes back. */
function shop() {
  const log: string[] = []
  const own = agent('shop')
  const pay = own.action('pay', {
    run: (n: number) => void log.push(`pay ${n}`),
    undo: ({ input }) => void log.push(`refund ${input}`),
  })
  const fail = own.action('fail', {
    run(_: null): never {
      throw new PermanentError('no')
    },
  })
  /** Pays, and is not done for an hour. */
  const slow = workflow('slow', {
    async run(n: number, task) {
      await task.run(pay, n)
      await task.sleep('1h')
      return n
    },
  })
  return { log, own, pay, fail, slow }
}

async function childrenOf(task: TaskHandle): Promise<unknown[]> {
  return (await task.children()).tasks.map(({ outcome }) => outcome)
}

describe('a child that is called off half done', () => {
  it('is undone when its parent returns without waiting for it', async () => {
    const { log, own, slow } = shop()
    const race = workflow('race', {
      async run(_: null, task) {
        await Promise.race([task.call(slow, 1), task.sleep('1m')])
        return 'too slow'
      },
    })
    await using s = await stage({ workflows: [race, slow], agents: [own] })
    const task = await s.submit(race, null)
    expect(await task.result()).toBe('too slow')
    expect(await childrenOf(task)).toEqual(['cancelled'])
    expect(log).toEqual(['pay 1', 'refund 1'])
  })

  it('is undone when its parent continues as another run', async () => {
    const { log, own, slow } = shop()
    const race = workflow('race', {
      async run(isLast: boolean, task): Promise<unknown> {
        if (isLast) return 'done'
        await Promise.race([task.call(slow, 1), task.sleep('1m')])
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [race, slow], agents: [own] })
    const task = await s.submit(race, false)
    expect(await task.result()).toBe('done')
    expect(log).toEqual(['pay 1', 'refund 1'])
  })

  it('is undone as a child of a batch that nobody waits for', async () => {
    const { log, own, slow } = shop()
    const race = workflow('race', {
      async run(_: null, task) {
        await Promise.race([task.batch('all', { workflow: slow, items: [1, 2] }), task.sleep('1m')])
        return 'too slow'
      },
    })
    await using s = await stage({ workflows: [race, slow], agents: [own] })
    const task = await s.submit(race, null)
    expect(await task.result()).toBe('too slow')
    expect(await childrenOf(task)).toEqual(['cancelled', 'cancelled'])
    expect(log.toSorted()).toEqual(['pay 1', 'pay 2', 'refund 1', 'refund 2'])
  })

  it('stays as it is when its parent fails and undoes nothing: a retry goes on with it', async () => {
    const { log, own, slow } = shop()
    let down = true
    const parent = workflow('parent', {
      rescue: 'fail',
      async run(_: null, task) {
        const child = task.call(slow, 1)
        await task.sleep('1m')
        if (down) throw new Error('down')
        return child
      },
    })
    await using s = await stage({ workflows: [parent, slow], agents: [own] })
    const task = await s.submit(parent, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    down = false
    await task.retry()
    await s.settle()
    expect(await task.result()).toBe(1)
    expect(log).toEqual(['pay 1'])
  })
})

/** What the first run of `twoRuns` did cannot be undone: the compensation is a function of that run. */
function incomplete() {
  const made = shop()
  const { pay, fail } = made
  const twoRuns = workflow('two-runs', {
    async run({ isLast, fails }: { isLast: boolean; fails: boolean }, task): Promise<unknown> {
      if (!isLast) {
        await task.run('note', () => 1, { undo: () => undefined })
        return task.continueAsNew({ isLast: true, fails })
      }
      await task.run(pay, 2)
      return fails ? task.run(fail, null) : 'done'
    },
  })
  return { ...made, twoRuns }
}

async function expectIncomplete(s: Stage, task: TaskHandle, left = 1): Promise<void> {
  await s.settle()
  const { outcome, error } = await task.status()
  expect([outcome, error?.code]).toEqual(['error', 'UNDO_INCOMPLETE'])
  expect(error?.details).toEqual({ left })
}

describe('a task is not called compensated', () => {
  it('when some of what a child of its batch did could not be undone', async () => {
    const { own, fail, twoRuns, log } = incomplete()
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.batch('all', { workflow: twoRuns, items: [1, 2].map(() => ({ isLast: false, fails: false })) })
        return task.run(fail, null)
      },
    })
    await using s = await stage({ workflows: [parent, twoRuns], agents: [own] })
    await expectIncomplete(s, await s.submit(parent, null), 2)
    expect(log).toEqual(['pay 2', 'pay 2', 'refund 2', 'refund 2'])
  })

  it.each(['call', 'batch'] as const)(
    'when a child that failed by itself could not undo all of it: %s',
    async (how) => {
      const { own, pay, twoRuns, log } = incomplete()
      const input = { isLast: false, fails: true }
      const parent = workflow('parent', {
        async run(_: null, task) {
          await task.run(pay, 1)
          if (how === 'call') await task.call(twoRuns, input)
          else await task.batch('all', { workflow: twoRuns, items: [input] })
        },
      })
      await using s = await stage({ workflows: [parent, twoRuns], agents: [own] })
      await expectIncomplete(s, await s.submit(parent, null))
      expect(log).toEqual(['pay 1', 'pay 2', 'refund 2', 'refund 1'])
    },
  )

  it.each(['call', 'batch'] as const)('when a child that ran over several runs was called off: %s', async (how) => {
    const { own, pay, fail } = shop()
    const twoRuns = workflow('two-runs', {
      async run(isLast: boolean, task): Promise<unknown> {
        if (isLast) return task.sleep('1h')
        await task.run('note', () => 1, { undo: () => undefined })
        return task.continueAsNew(true)
      },
    })
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.run(pay, 1)
        const child =
          how === 'call' ? task.call(twoRuns, false) : task.batch('all', { workflow: twoRuns, items: [false] })
        child.catch(() => undefined)
        await task.sleep('1m')
        return task.run(fail, null)
      },
    })
    await using s = await stage({ workflows: [parent, twoRuns], agents: [own] })
    const task = await s.submit(parent, null)
    await s.advance('2m')
    await expectIncomplete(s, task)
  })

  it.each(['call', 'batch'] as const)(
    'when the undo of a child was ended by force, or given up with it: %s',
    async (how) => {
      const { own, pay, fail } = shop()
      const stuck = own.action('stuck', {
        undoRetry: { attempts: 1 },
        run: (_: null) => null,
        undo() {
          throw new Error('cannot')
        },
      })
      const child = workflow('child', { run: (_: null, task) => task.run(stuck, null) })
      const parent = workflow('parent', {
        async run(_: null, task) {
          await task.run(pay, 1)
          if (how === 'call') await task.call(child, null)
          else await task.batch('all', { workflow: child, items: [null] })
          return task.run(fail, null)
        },
      })
      await using s = await stage({ workflows: [parent, child], agents: [own] })
      const task = await s.submit(parent, null)
      await s.settle()
      const [only] = (await task.children()).tasks
      expect(only?.status).toBe('paused')
      await s.engine.tasks.get(only?.id ?? '').cancel({ force: true })
      await expectIncomplete(s, task)
    },
  )

  it('when an operator cancelled a child, and told it to undo nothing', async () => {
    const { own, pay, slow } = shop()
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.run(pay, 1)
        return task.call(slow, 2)
      },
    })
    await using s = await stage({ workflows: [parent, slow], agents: [own] })
    const task = await s.submit(parent, null)
    await s.settle()
    const [only] = (await task.children()).tasks
    await s.engine.tasks.get(only?.id ?? '').cancel({ compensate: false })
    await expectIncomplete(s, task)
  })
})
