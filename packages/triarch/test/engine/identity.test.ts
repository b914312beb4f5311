import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { childOf, codeOf, stage } from './harness.ts'

describe('the ids that the engine makes', () => {
  const keys: string[] = []
  const own = agent('work')
  const act = own.action('act', {
    retry: { attempts: 1 },
    run(fails: boolean, step) {
      keys.push(step.idempotencyKey)
      if (fails && step.attempt === 1) throw new Error('no')
    },
  })

  it('give no two steps the same idempotency key, however tasks are named', async () => {
    keys.length = 0
    const flow = workflow('flow', {
      async run(_: null, task) {
        for (let n = 1; n <= 3; n++) await task.run(act, n === 2)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    // The step after the retried one is of another generation, and so is its key.
    for (const id of ['invoice:42', 'invoice:42:3', 'invoice:42:3:undo', 'invoice:42:3:1']) {
      const task = await s.submit(flow, null, { id })
      await codeOf(task.result())
      await task.retry({ step: 2 })
      await s.settle()
      expect((await task.status()).outcome).toBe('success')
    }
    expect(keys).toHaveLength(4 * 4)
    expect(new Set(keys).size).toBe(4 * 3)
    expect(keys).toContain(`invoice:42~${s.engine.now().getTime().toString(36)}:3~1`)
  })

  it('give the steps of a task that was dropped and submitted again other keys and tokens, also when it is a child', async () => {
    const tokens: string[] = []
    const ask = own.action('ask', {
      run(_: null, step) {
        keys.push(step.idempotencyKey)
        tokens.push(step.token)
        return step.received ? step.received.payload : step.suspend()
      },
    })
    const asking = workflow('asking', { retention: '1h', run: (_: null, task) => task.run(ask, null) })
    const family = workflow('family', {
      retention: '1h',
      run: (_: null, task) => task.call(asking, null, { id: 'kid' }),
    })
    await using s = await stage({ workflows: [asking, family], agents: [own] })
    for (const [flow, id] of [
      [asking, 'one'],
      [family, 'two'],
    ] as const) {
      keys.length = tokens.length = 0
      for (const answer of [1, 2]) {
        const task = await s.submit(flow, null, { id })
        await s.settle()
        if (answer === 2)
          expect(await codeOf(s.engine.triarch.tasks.resume(tokens[0] as string, 0))).not.toBe('nothing')
        await s.engine.triarch.tasks.resume(tokens.at(-1) as string, answer)
        expect(await task.result()).toBe(answer)
        await s.advance('2h')
        expect(await s.store.task(id)).toBeNull()
      }
      expect(new Set(keys).size).toBe(2)
      expect(new Set(tokens).size).toBe(2)
    }
  })

  const child = workflow('child', { run: async (n: number) => n })
  const parent = workflow('parent', { run: async (n: number, task) => task.call(child, n) })

  const short = workflow('short', { retention: '1h', run: async (n: number, task) => task.call(child, n) })

  it('are no task that a user can name', async () => {
    await using s = await stage({ workflows: [parent, child] })
    for (const id of ['release-1.1', 'a:b/c#d@e', 'release-1:1']) await (await s.submit(child, 7, { id })).result()
    const task = await s.submit(parent, 8, { id: 'release-1' })
    expect(await task.result()).toBe(8)
    expect(await codeOf(s.submit(child, 1, { id: await childOf(s, 'release-1', 2) }))).toBe('INVALID_NAME')
    expect(await s.engine.tasks.get(await childOf(s, 'release-1', 1)).result()).toBe(8)
  })

  it('are others when a task is submitted again that was dropped: its children of before are not in its way', async () => {
    await using s = await stage({ workflows: [short, child] })
    expect(await (await s.submit(short, 1, { id: 'again' })).result()).toBe(1)
    const before = await childOf(s, 'again', 1)
    await s.advance('2h')
    expect(await s.store.task('again')).toBeNull()
    expect(await s.store.task(before)).not.toBeNull()
    expect(await (await s.submit(short, 2, { id: 'again' })).result()).toBe(2)
    expect(await childOf(s, 'again', 1)).not.toBe(before)
  })
})

describe('a task that never ends', () => {
  it('does not grow: what lies before the last but one beginning is dropped', async () => {
    const loop = workflow('loop', {
      async run(n: number, task) {
        await task.sleep('1s')
        await task.run('note', () => n)
        if (n < 200) await task.continueAsNew(n + 1)
        return n
      },
    })
    await using s = await stage({ workflows: [loop] })
    const task = await s.submit(loop, 1, { id: 'loop' })
    await s.advance('300s')
    expect(await task.result()).toBe(200)
    const history = await task.history()
    expect(history.length).toBeLessThan(20)
    expect(history[0]?.events[0]).toMatchObject({ type: 'submitted', input: 1 })
    expect((await task.status()).outcome).toBe('success')
    expect(await task.steps()).not.toEqual([])
  })
})
