import { describe, expect, it } from 'vitest'
import { type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { checkFold, eventsOf, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

type Wait = (task: TaskContext, name: string) => Promise<unknown>

/** Ways in which a wait loses: nobody listens to it any more when the second goes by. */
const losers: Record<string, Wait> = {
  'a race with a sleep': (task, name) => Promise.race([task.waitForSignal(name), task.sleep('1s')]),
  'a race of what was made of both': (task, name) =>
    Promise.race([
      task.waitForSignal(name).then((value) => ({ value })),
      task
        .sleep('1s')
        .then(() => 'late')
        .finally(() => undefined),
    ]),
  'a race of what catches': (task, name) =>
    Promise.race([
      task
        .waitForSignal(name)
        .catch(() => 'no')
        .finally(() => undefined),
      task.sleep('1s'),
    ]),
  'a race with a step': (task, name) => Promise.race([task.run('quick', () => 1), task.waitForSignal(name)]),
  'a race that throws': (task, name) =>
    Promise.race([task.waitForSignal(name), task.waitForSignal('never', { timeout: '1s' })]).catch(() => undefined),
  'Promise.any': (task, name) =>
    Promise.any([task.waitForSignal(name), task.waitForSignal('never', { timeout: '1s' }), task.sleep('1s')]),
  'Promise.all that failed': (task, name) =>
    Promise.all([task.waitForSignal(name), task.waitForSignal('never', { timeout: '1s' })]).catch(() => undefined),
  'a race with what is decided already': async (task, name) => {
    const done = task.sleep(0)
    await done
    return Promise.race([done, task.waitForSignal(name)])
  },
  'several races': async (task, name) => {
    const event = task.waitForSignal(name)
    await Promise.race([event, task.sleep('1s')])
    await Promise.race([event, task.sleep('1s')])
  },
  'a signal': async (task, name) => {
    const stop = new AbortController()
    const branch = async () => [await task.waitForSignal(name, { signal: stop.signal })]
    await Promise.race([branch().catch(() => 'aborted'), task.sleep('1s')])
    stop.abort()
  },
  'a timeout': (task, name) => task.waitForSignal(name, { timeout: '1s' }).catch(() => undefined),
}

/** Waits and loses, then waits in earnest. */
const after = (lose: Wait) =>
  workflow('after', {
    async run(_: null, task: TaskContext) {
      await lose(task, 'x')
      await task.sleep('1h')
      return [await task.waitForSignal('x'), await task.waitForSignal('x')]
    },
  })

describe('a wait for a signal that nobody listens to any more', () => {
  for (const [how, lose] of Object.entries(losers)) {
    it(`takes none: it lost by ${how}`, async () => {
      await using s = await stage({ workflows: [after(lose)], poll: '1s' })
      const task = await s.submit(after(lose), null)
      await s.advance('1m')
      const { reasons } = await s.engine.triarch.tasks.get(task.id).explain()
      expect(reasons.filter(({ code }) => code === 'signal')).toEqual([])
      await task.signal('x', 1)
      await s.advance('2h')
      await task.signal('x', 2)
      await s.settle()
      expect(await task.result()).toEqual([1, 2])
    })
  }

  it('gives back what came while the task was paused', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        await Promise.race([task.waitForSignal('x'), task.sleep('1s')])
        return [await task.waitForSignal('x'), await task.waitForSignal('x'), await task.waitForSignal('x')].sort()
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    await task.pause()
    await s.advance('1m')
    for (const n of [1, 2, 3]) await task.signal('x', n)
    await s.advance('1m')
    await task.resume()
    await s.advance('1m')
    expect(await task.result()).toEqual([1, 2, 3])
    await checkFold(s.store, task.id)
  })

  it('leaves it to the next run of a task that continues anew', async () => {
    const flow = workflow('flow', {
      async run(first: boolean, task): Promise<unknown> {
        if (!first) return task.waitForSignal('x')
        await Promise.race([task.waitForSignal('x'), task.sleep('1s')])
        return task.continueAsNew(false)
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, true)
    await s.settle()
    await task.pause()
    await s.advance('1m')
    await task.signal('x', 'kept')
    await s.advance('1m')
    await task.resume()
    await s.advance('1m')
    expect(await task.result()).toBe('kept')
  })

  it('leaves it to the next run although the first asked for it as it ended, and dies before it is over', async () => {
    const [environment, file] = [new VirtualEnvironment(), scratch()]
    const slow = workflow('slow', { run: (_: null, task) => task.sleep('1m') })
    const flow = workflow('flow', {
      async run(first: boolean, task): Promise<unknown> {
        if (!first) return task.waitForSignal('x')
        await task.sleep('1s')
        // Whoever hears of it here can do nothing with it: the run is over.
        void task.waitForSignal('x').then(() => task.sleep('1s'))
        task.call(slow, null, { onCancel: 'wait' }).catch(() => undefined)
        return task.continueAsNew(false)
      },
    })
    const open = () => stage({ environment, store: file.store, workflows: [flow, slow], lease: '2s', poll: '1s' })
    const dying = await open()
    const { id } = await dying.submit(flow, true)
    await dying.settle()
    await dying.engine.triarch.tasks.get(id).signal('x', 'kept')
    await dying.advance('10s')
    await dying.kill()
    await using s = await open()
    await s.advance('5m')
    expect(await s.engine.triarch.tasks.get(id).result()).toBe('kept')
    await checkFold(s.store, id)
    await dying[Symbol.asyncDispose]()
    file[Symbol.dispose]()
  })

  it('waits on when somebody looks at it again, and hears what came meanwhile', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        const event = task.waitForSignal('x', { timeout: '1d' })
        const tagged = event.then((value) => ({ value }))
        const first = await Promise.race([tagged, task.sleep('1s')])
        await task.sleep('1h')
        const second = await Promise.race([tagged, task.sleep('1s')])
        const late = task.waitForSignal('y', { timeout: '1h' })
        await Promise.race([late, task.sleep('1s')])
        await task.sleep('2h')
        return { first, second, again: await event, late: await late.catch((error) => error.code) }
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1m' })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    await task.signal('x', 1)
    await s.advance('1d')
    expect(await task.result()).toEqual({ first: null, second: { value: 1 }, again: 1, late: 'SIGNAL_TIMEOUT' })
    expect(await eventsOf(task, 'waitCancelled')).toHaveLength(2)
  })

  it('costs nothing while it goes from race to race', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        const event = task.waitForSignal('x')
        for (let n = 0; n < 50; n++) {
          const got = await Promise.race([event, task.sleep('1s')])
          if (got !== null) return [n, got]
        }
        return null
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.advance('10500ms')
    await task.signal('x', 'at last')
    await s.settle()
    expect(await task.result()).toEqual([10, 'at last'])
    expect(await eventsOf(task, 'waitCancelled')).toEqual([])
    expect(await eventsOf(task, 'waitStarted')).toHaveLength(1)
  })

  it('is not one whose handler is there for what it does, nor one that was begun to be awaited later', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        let called = 0
        void task.waitForSignal('call').then(() => called++)
        const early = task.waitForSignal('early')
        await Promise.race([task.sleep('1h'), task.sleep('2h')])
        return [called, await early]
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    await task.signal('call')
    await task.signal('early', 'here')
    await s.advance('3h')
    expect(await task.result()).toEqual([1, 'here'])
    expect(await eventsOf(task, 'waitCancelled')).toEqual([])
  })

  it('of two that are listened to, the older takes the older signal', async () => {
    const flow = workflow('flow', {
      run: (_: null, task) =>
        Promise.all([task.waitForSignal('x'), Promise.race([task.waitForSignal('x'), task.sleep('1d')])]),
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    for (const n of [1, 2]) await task.signal('x', n)
    await s.advance('10s')
    expect(await task.result()).toEqual([1, 2])
  })

  it('that a foreign signal aborts breaks the rules, and pauses the task', async () => {
    const stop = new AbortController()
    const flow = workflow('flow', {
      run: (_: null, task) => task.waitForSignal('x', { signal: stop.signal }).catch(() => 'aborted'),
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    stop.abort()
    await s.advance('10s')
    expect((await task.status()).pause?.error?.code).toBe('WORKFLOW_MISUSE')
  })
})

describe('the history of a task with such a wait', () => {
  it('replays to the same, whoever takes the task up, and when', async () => {
    const lose = losers['a race of what was made of both'] as Wait
    using file = scratch()
    const environment = new VirtualEnvironment()
    const workflows = [after(lose)]
    const apart = (): Promise<Stage> => stage({ workflows, store: file.store, environment, lease: '1m', sweep: '20s' })
    {
      await using s = await apart()
      await s.submit(after(lose), null, { id: 't' })
      await s.advance('1m')
      await s.engine.tasks.get('t').signal('x', 1)
      await s.settle()
    }
    {
      await using s = await apart()
      await s.advance('2h')
      await s.engine.tasks.get('t').signal('x', 2)
      await s.settle()
      expect(await s.engine.tasks.get('t').result()).toEqual([1, 2])
      expect(await eventsOf(s.engine.tasks.get('t'), 'waitCancelled')).toEqual([{ type: 'waitCancelled', id: 1 }])
    }
  })
})
