import { describe, expect, it } from 'vitest'
import { type TaskContext, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from '../engine/harness.ts'

const holder = workflow('holder', {
  async run(names: string[], task: TaskContext) {
    for (const name of names) await task.lock(name)
    await task.waitForSignal('go')
  },
})

type Ask = (task: TaskContext) => Promise<unknown>

const losers: Record<string, Ask> = {
  'a race with a sleep': (task) => Promise.race([task.lock('a'), task.sleep('1s')]),
  'a race of what was made of both': (task) =>
    Promise.race([task.lock('a').then(({ fence }) => fence), task.sleep('1s').then(() => 'late')]),
  'a race with what is decided already': async (task) => {
    const done = task.sleep(0)
    await done
    return Promise.race([done, task.lock('a')])
  },
  'a signal': async (task) => {
    const stop = new AbortController()
    const lock = task.lock('a', { signal: stop.signal }).then(({ release }) => release)
    lock.catch(() => undefined)
    await task.sleep('1s')
    stop.abort()
  },
  'a timeout': (task) => task.lock('a', { timeout: '1s' }).catch(() => undefined),
  'continuing anew at once': (task) => {
    void task.lock('a')
    return task.continueAsNew(false)
  },
}

const asker = (lose: Ask) =>
  workflow('asker', {
    async run(first: boolean, task: TaskContext) {
      if (first) await lose(task)
      await task.waitForSignal('end')
      const lock = await task.lock('a', { timeout: '1s' })
      return lock.fence > 0
    },
  })

describe('a lock that nobody waits for any more', () => {
  for (const [how, lose] of Object.entries(losers)) {
    for (const order of ['free', 'had by another']) {
      it(`is not the task's, whoever has it (${order}): it was given up by ${how}`, async () => {
        const flow = asker(lose)
        await using s = await stage({ workflows: [flow, holder], poll: '1s' })
        const first = await s.submit(holder, order === 'free' ? [] : ['a'])
        await s.advance('10s')
        const task = await s.submit(flow, true)
        if (order === 'free') await s.settle()
        else await s.advance('1m')
        await first.signal('go')
        await s.advance('1m')
        const next = await s.submit(holder, ['a'])
        await s.advance('1m')
        if (order !== 'free' || how.startsWith('continuing')) {
          expect(await s.store.locks({ name: 'a' })).toMatchObject([{ task: next.id, held: true }])
          expect((await s.engine.triarch.tasks.get(task.id).explain()).reasons).toMatchObject([
            { code: 'signal', name: 'end' },
          ])
        }
        await next.cancel()
        await task.signal('end')
        await s.advance('1m')
      })
    }
  }

  it('is given back when it was had while the task was paused', async () => {
    const flow = asker(losers['a race with a sleep'] as Ask)
    await using s = await stage({ workflows: [flow, holder], poll: '1s' })
    const first = await s.submit(holder, ['a'])
    const task = await s.submit(flow, true)
    await s.settle()
    await task.pause()
    await s.advance('1m')
    await first.signal('go')
    await s.advance('1m')
    await task.resume()
    await s.advance('1m')
    expect(await s.store.locks({ name: 'a' })).toEqual([])
    await task.signal('end')
    await s.advance('1m')
    expect(await task.result()).toBe(true)
  })

  it('is asked for again by who looks at it again, last in line', async () => {
    const flow = workflow('flow', {
      async run(_: null, task: TaskContext) {
        const asked = task.lock('a')
        await Promise.race([asked, task.sleep('1s')])
        await task.sleep('1h')
        const lock = await asked
        lock.release()
        await task.waitForSignal('end')
        return lock.fence
      },
    })
    await using s = await stage({ workflows: [flow, holder], poll: '1s' })
    const first = await s.submit(holder, ['a'])
    await s.settle()
    const task = await s.submit(flow, null)
    await s.advance('2h')
    expect(await s.store.locks({ name: 'a' })).toMatchObject([{ task: first.id }, { task: task.id }])
    await first.signal('go')
    await s.advance('1m')
    expect(await s.store.locks({ name: 'a' })).toEqual([])
    expect(await eventsOf(task, 'waitCancelled')).toMatchObject([{ id: 1, lock: true }])
    await task.signal('end')
    await s.settle()
    expect(await task.result()).toBe(2)
  })
})

describe('a task that holds locks', () => {
  it('says so, whatever it waits for', async () => {
    await using s = await stage({ workflows: [holder], poll: '1s' })
    const task = await s.submit(holder, ['a', 'b'])
    await s.advance('1m')
    const { holds, text } = await s.engine.triarch.tasks.get(task.id).explain()
    expect(holds.map(({ lock }) => lock)).toEqual(['a', 'b'])
    expect(text).toContain('It holds lock "a" since')
    expect(await codeOf(task.signal('go'))).toBe('nothing')
    await s.settle()
    expect((await s.engine.triarch.tasks.get(task.id).explain()).holds).toEqual([])
  })
})
