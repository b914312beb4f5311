import { describe, expect, it } from 'vitest'
import { agent, type TaskContext, workflow } from '../../src/index.ts'
import { checkFold, codeOf, eventsOf, stage } from '../engine/harness.ts'

/** Takes the locks one after the other, each held an hour longer. */
const locker = workflow('locker', {
  rescue: 'fail',
  async run(names: string[], task: TaskContext) {
    for (const name of names) {
      await task.lock(name)
      await task.sleep('1h')
    }
    return task.now().toISOString()
  },
})

describe('a lock that a task takes', () => {
  it('is one task’s at a time, until it stops', async () => {
    await using s = await stage({ workflows: [locker] })
    const [a, b] = [await s.submit(locker, ['x'], { id: 'a' }), await s.submit(locker, ['x'], { id: 'b' })]
    await s.advance('90m')
    expect([(await a.status()).status, (await b.status()).status]).toEqual(['stopped', 'running'])
    await s.advance('30m')
    expect((await b.status()).outcome).toBe('success')
    expect(await s.store.locks({ name: 'x' })).toEqual([])
  })

  it('is told to whoever only waited for it when the task stopped, and was retried', async () => {
    await using s = await stage({ workflows: [locker] })
    await s.submit(locker, ['x'], { id: 'a' })
    const b = await s.submit(locker, ['x'], { id: 'b', completeBy: '10m' })
    await s.advance('20m')
    expect(await b.status()).toMatchObject({ status: 'stopped', outcome: 'error' })
    await b.retry()
    await s.advance('20m')
    expect((await b.status()).status).toBe('paused')
    await s.advance('90m')
    expect(await b.status()).toMatchObject({ status: 'stopped', outcome: 'success' })
  })

  it('is given back before that, and then it is the next one’s', async () => {
    const diary: string[] = []
    const brief = workflow('brief', {
      async run(name: string, task: TaskContext) {
        const lock = await task.lock('x')
        await task.run('use', () => void diary.push(`+${name}`))
        await task.sleep('1m')
        lock.release()
        lock.release()
        await task.sleep('1h')
      },
    })
    await using s = await stage({ workflows: [brief] })
    for (const name of ['a', 'b', 'c']) await s.submit(brief, name, { id: name })
    await s.advance('150s')
    expect(diary).toEqual(['+a', '+b', '+c'])
    expect(await eventsOf(s.engine.tasks.get('a'), 'lockReleased')).toHaveLength(1)
  })

  it('can be waited for a while only', async () => {
    const patient = workflow('patient', {
      async run(_: null, task: TaskContext) {
        try {
          await task.lock('x', { timeout: '10m' })
          return 'had it'
        } catch (error) {
          await task.sleep('2h')
          return (error as { code: string }).code
        }
      },
    })
    await using s = await stage({ workflows: [locker, patient] })
    await s.submit(locker, ['x'], { id: 'a' })
    const [b, c] = [await s.submit(patient, null, { id: 'b' }), await s.submit(locker, ['x'], { id: 'c' })]
    await s.advance('11m')
    expect((await s.store.locks({ name: 'x' })).map(({ task }) => task)).toEqual(['a', 'c'])
    await s.advance('3h')
    expect(await b.result()).toBe('LOCK_TIMEOUT')
    expect((await c.status()).outcome).toBe('success')
  })

  it('is refused to who would wait for itself, with the names of those in the way', async () => {
    await using s = await stage({ workflows: [locker] })
    const a = await s.submit(locker, ['x', 'y'], { id: 'a' })
    const b = await s.submit(locker, ['y', 'x'], { id: 'b' })
    await s.advance('4h')
    expect((await a.status()).outcome).toBe('success')
    expect((await b.status()).error).toMatchObject({ code: 'LOCK_DEADLOCK', details: { lock: 'x', by: ['a'] } })
    const twice = await s.submit(locker, ['z', 'z'])
    await s.advance('4h')
    expect((await twice.status()).error?.code).toBe('LOCK_DEADLOCK')
  })

  it('is held while its task is undone', async () => {
    const diary: string[] = []
    const own = agent('own')
    const slow = own.action('slow', {
      run: () => void diary.push('done'),
      undo: (_, { attempt }) => {
        diary.push(`undo ${attempt}`)
        if (attempt === 1) throw new Error('not yet')
      },
      undoRetry: { attempts: 2, backoff: { initial: '1h', jitter: false } },
    })
    const failing = workflow('failing', {
      async run(_: null, task: TaskContext) {
        await task.lock('x')
        await task.run(slow, null)
        throw new Error('no')
      },
    })
    await using s = await stage({ workflows: [failing, locker], agents: [own] })
    await s.submit(failing, null, { id: 'a' })
    await s.submit(locker, ['x'], { id: 'b' })
    await s.advance('30m')
    expect(await s.store.locks({ name: 'x' })).toMatchObject([{ task: 'a', held: true }, { task: 'b' }])
    await s.advance('31m')
    expect(diary).toEqual(['done', 'undo 1', 'undo 2'])
    expect(await s.store.locks({ name: 'x' })).toMatchObject([{ task: 'b', held: true }])
  })

  it('is had again before a task that stopped goes on', async () => {
    let fails = true
    const diary: string[] = []
    const flow = workflow('flow', {
      rescue: 'fail',
      async run(name: string, task: TaskContext) {
        await task.lock('x')
        await task.run('first', () => void diary.push(`${name} first`))
        await task.run(
          'second',
          () => {
            if (fails) throw new Error('no')
            diary.push(`${name} second`)
          },
          { retry: { attempts: 1 } },
        )
      },
    })
    await using s = await stage({ workflows: [flow, locker] })
    const a = await s.submit(flow, 'a', { id: 'a' })
    await s.settle()
    expect((await a.status()).outcome).toBe('error')
    await s.submit(locker, ['x'], { id: 'b' })
    await s.settle()
    fails = false
    await a.retry()
    await s.settle()
    expect(await a.status()).toMatchObject({ status: 'paused', pause: { cause: 'lock' } })
    expect(await codeOf(a.pause())).toBe('nothing')
    await s.advance('61m')
    expect((await a.status()).outcome).toBe('success')
    expect(diary).toEqual(['a first', 'a second'])
    await checkFold(s.store, 'a')
  })

  it('is waited for again when the code is replayed', async () => {
    await using s = await stage({ workflows: [locker] })
    await s.submit(locker, ['x'], { id: 'a' })
    await s.submit(locker, ['x'], { id: 'b' })
    // Long idle tasks leave memory: b is rebuilt from its history when its turn comes.
    await s.advance('2h')
    const b = s.engine.tasks.get('b')
    expect(await b.result()).toBe(s.engine.now().toISOString())
    expect(await eventsOf(b, 'lockRequested')).toHaveLength(1)
  })

  it('names what is wrong with its name and options', async () => {
    const bad = workflow('bad', {
      rescue: 'fail',
      run: async ([name, options]: [string, object], task: TaskContext) => void (await task.lock(name, options)),
    })
    await using s = await stage({ workflows: [bad] })
    const codes: (string | undefined)[] = []
    for (const given of [
      ['', {}],
      ['x', { timeOut: 1 }],
      ['x', { timeout: 'soon' }],
    ] as [string, object][]) {
      const task = await s.submit(bad, given)
      await s.settle()
      codes.push((await task.status()).error?.code)
    }
    expect(codes).toEqual(['INVALID_NAME', 'UNKNOWN_OPTION', 'INVALID_DURATION'])
  })
})
