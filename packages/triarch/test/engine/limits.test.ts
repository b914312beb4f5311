import { describe, expect, it } from 'vitest'
import { agent, type TaskHandle, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'

const own = agent('own')
const log: string[] = []
const act = own.action('act', { run: (n: number) => n, undo: ({ input }) => void log.push(`-${input}`) })
const big = own.action('big', { retry: { attempts: 3 }, run: (size: number) => 'x'.repeat(size) })
const agents = [own]

describe('every bound is explicit:', () => {
  it('a history that grows too long ends the task with HISTORY_TOO_LONG and undoes it', async () => {
    log.length = 0
    const endless = workflow('endless', {
      async run(_: null, task) {
        for (let n = 0; ; n++) await task.run(act, n)
      },
    })
    await using s = await stage({ workflows: [endless], agents, limits: { history: 50 } })
    const task = await s.submit(endless, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect((await task.status()).error?.code).toBe('HISTORY_TOO_LONG')
    expect(log).toHaveLength((await eventsOf(task, 'stepCompleted')).length)
    expect((await eventsOf(task, 'stepCompleted')).length).toBeLessThan(50)
  })

  it('signals that a run leaves to the next give that no longer a history', async () => {
    const next = workflow('next', {
      async run(isFirst: boolean, task) {
        if (isFirst) return task.continueAsNew(false)
        for (let n = 0; ; n++) await task.run(act, n)
      },
    })
    await using s = await stage({ workflows: [next], agents, limits: { history: 20 } })
    const tasks: TaskHandle<unknown>[] = []
    for (const signals of [0, 1, 10]) {
      const task = await s.submit(next, true, { startAt: new Date(s.engine.environment.now() + 1_000) })
      for (let n = 0; n < signals; n++) await task.signal('news', n)
      tasks.push(task)
    }
    await s.advance('10s')
    const steps = await Promise.all(tasks.map(async (task) => (await eventsOf(task, 'stepCompleted')).length))
    expect(steps).toEqual([10, 10, 10])
  })

  it('a history starts anew with continueAsNew, so that a task may go on for ever', async () => {
    const rolling = workflow('rolling', {
      async run(n: number, task) {
        for (let i = 0; i < 5; i++) await task.run('x', () => i)
        return n === 0 ? 'done' : task.continueAsNew(n - 1)
      },
    })
    await using s = await stage({ workflows: [rolling], limits: { history: 20 } })
    expect(await (await s.submit(rolling, 30)).result()).toBe('done')
  })

  it('a fan-out that is too wide ends the task with FAN_OUT_TOO_WIDE; one at the bound is fine', async () => {
    let ran = 0
    const wide = workflow('wide', {
      run: (n: number, task) => Promise.all(Array.from({ length: n }, () => task.run('x', () => ++ran))),
    })
    await using s = await stage({ workflows: [wide], limits: { fanOut: 20 } })
    expect(await (await s.submit(wide, 20)).result()).toHaveLength(20)
    ran = 0
    const task = await s.submit(wide, 21)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect((await task.status()).error?.code).toBe('FAN_OUT_TOO_WIDE')
    expect(ran).toBe(0)
  })

  it('completed steps that can be undone do not count as fan-out', async () => {
    const long = workflow('long', {
      async run(_: null, task) {
        for (let n = 0; n < 50; n++) await task.run(act, n)
        return 'fine'
      },
    })
    await using s = await stage({ workflows: [long], agents, limits: { fanOut: 20 } })
    expect(await (await s.submit(long, null)).result()).toBe('fine')
  })

  it('a node with room for one task finishes one whose inbox is full and which waits for its child', async () => {
    const double = workflow('double', { run: async (n: number, task) => task.run('double', () => n * 2) })
    const parent = workflow('parent', {
      run: async (_: null, task) => {
        await task.sleep('3s')
        return [await task.call(double, 21), await task.waitForSignal('news')]
      },
    })
    await using s = await stage({ workflows: [parent, double], limits: { tasks: 1, inbox: 1 }, poll: '1s' })
    const task = await s.submit(parent, null)
    await s.settle()
    await task.signal('news', 'read')
    await s.advance('1m')
    expect(await task.result()).toEqual([42, 'read'])
  })

  it('a full node makes room as soon as one of its tasks has to wait', async () => {
    const ready = Promise.withResolvers<void>()
    const waits = workflow('waits', {
      run: async (_: null, task) => {
        await task.run('busy', () => ready.promise)
        return task.waitForSignal('go')
      },
    })
    const quick = workflow('quick', { run: async () => 'quick' })
    await using s = await stage({ workflows: [waits, quick], limits: { tasks: 1 }, poll: '1h' })
    const first = await s.submit(waits, null)
    const second = await s.submit(quick, null)
    await s.settle()
    expect((await second.status()).status).toBe('pending')
    ready.resolve()
    await s.settle()
    expect((await second.status()).output).toBe('quick')
    await first.signal('go', 1)
    await s.settle()
    expect((await first.status()).output).toBe(1)
  })

  it('a full node takes who waits before who comes: an endless stream of submissions keeps nobody out', async () => {
    const begun: string[] = []
    const gates = new Map<string, () => void>()
    const busy = workflow('busy', {
      run: async (name: string, task) =>
        task.run('work', () => {
          begun.push(name)
          return new Promise<null>((resolve) => gates.set(name, () => resolve(null)))
        }),
    })
    await using s = await stage({ workflows: [busy], limits: { tasks: 2 }, poll: '1h' })
    for (const id of ['a', 'b', 'waits']) await s.submit(busy, id, { id })
    await s.settle()
    expect(begun).toEqual(['a', 'b'])
    for (let n = 0; n < 10; n++) {
      const id = begun.at(-1) ?? ''
      gates.get(id)?.()
      await s.engine.triarch.tasks.get(id).result()
      await s.submit(busy, `new ${n}`, { id: `new ${n}` })
      await s.settle()
    }
    expect(begun.slice(2)).toEqual(['waits', ...Array.from({ length: 9 }, (_, n) => `new ${n}`)])
    for (const open of gates.values()) open()
    for (let n = 0; n < 3; n++) {
      await s.settle()
      for (const open of gates.values()) open()
    }
  })

  it.each([
    ['with what they are submitted with', 4_000, 0],
    ['with what their steps give', 0, 4_000],
  ])('what a node makes itself counts as what is in its memory: %s', async (_, given, made) => {
    const waits = workflow('waits', {
      run: async (text: string, task) => {
        await task.run('more', () => 'x'.repeat(made))
        await task.waitForSignal('go')
        return text.length
      },
    })
    await using s = await stage({ workflows: [waits], limits: { memory: 10_000 }, poll: '1h' })
    const tasks: TaskHandle<number>[] = []
    for (let n = 0; n < 10; n++) {
      tasks.push(await s.submit(waits, 'x'.repeat(given)))
      await s.settle()
    }
    const here = (
      await s.store.owned({ node: (await s.engine.triarch.nodes.list())[0]?.id ?? '', after: 0, limit: 100 })
    ).length
    expect(here).toBeLessThan(4)
    for (const task of tasks) {
      await task.signal('go')
      await s.settle()
      expect((await task.status()).output).toBe(given)
    }
  })

  it('payloads over the limit are refused where they arise', async () => {
    const flow = workflow('flow', {
      rescue: 'fail',
      async run(how: string, task) {
        if (how === 'input') return task.run(act, 'x'.repeat(2_000) as never)
        if (how === 'output') return task.run(big, 2_000)
        if (how === 'local') return task.run('local', () => 'x'.repeat(2_000))
        if (how === 'return') return 'x'.repeat(2_000)
        return task.run(big, 900)
      },
    })
    await using s = await stage({ workflows: [flow], agents, limits: { payload: 1_000 } })
    for (const how of ['output', 'local']) {
      const task = await s.submit(flow, how)
      await s.advance('1m')
      // The work is done: it is held, not failed.
      expect(await task.status(), how).toMatchObject({
        status: 'paused',
        pause: { error: { code: 'STEP_UNRECORDABLE' } },
      })
      expect((await task.status()).pause?.error?.cause?.code).toBe('PAYLOAD_TOO_LARGE')
      await task.cancel({ force: true })
    }
    for (const how of ['input', 'return']) {
      const task = await s.submit(flow, how)
      await s.advance('1m')
      expect(await codeOf(task.result()), how).toBe('TASK_FAILED')
      const { error } = await task.status()
      expect([error?.code, error?.cause?.code], how).toContain('PAYLOAD_TOO_LARGE')
    }
    expect(await (await s.submit(flow, 'small')).result()).toHaveLength(900)
    expect(await codeOf(s.submit(flow, 'x'.repeat(2_000)))).toBe('PAYLOAD_TOO_LARGE')
  })

  it('an output that is too large is not tried again: the work was done', async () => {
    const flow = workflow('flow', { rescue: 'fail', run: (_: null, task) => task.run(big, 2_000) })
    await using s = await stage({ workflows: [flow], agents, limits: { payload: 1_000 } })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect(await eventsOf(task, 'attemptFailed')).toMatchObject([{ unknown: true }])
  })
})
