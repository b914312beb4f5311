import { describe, expect, it } from 'vitest'
import { agent, type BatchDefinition, type LocalBatchDefinition, PermanentError, workflow } from '../../src/index.ts'
import { childTaskId } from '../../src/kernel/child/child.ts'
import { codeOf, eventsOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { newTask } from '../store/samples.ts'

type Options = Omit<BatchDefinition<number, number>, 'workflow' | 'items'>
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Items 0 … n-1 as a batch of a plan; a child fails if its item is in `broken`, and waits while it is in `held`. */
function work(options: Options = {}) {
  const seen: number[] = []
  const undone: number[] = []
  const pages: number[] = []
  const broken = new Set<number>()
  const held = new Map<number, () => void>()
  const running = { now: 0, most: 0 }
  const own = agent('work')
  const act = own.action('act', {
    retry: { attempts: 6, backoff: { initial: '1s', jitter: false } },
    async run(n: number, step) {
      running.most = Math.max(running.most, ++running.now)
      seen.push(n)
      if (held.has(n))
        await new Promise<void>((resolve) => {
          held.set(n, resolve)
          step.signal.addEventListener('abort', () => resolve(), { once: true })
        })
      else await new Promise<void>((resolve) => setImmediate(resolve))
      running.now--
      step.signal.throwIfAborted()
      if (broken.has(n)) throw new PermanentError(`${n} is broken`)
      return n
    },
    undo: ({ output }) => void undone.push(output),
  })
  const child = workflow('child', { run: async (n: number, task) => (await task.run(act, n)) * 2 })
  const all = own.batch('all', {
    ...options,
    workflow: child,
    items(count: number, { offset, limit }) {
      pages.push(offset)
      return numbers(count).slice(offset, offset + limit)
    },
  })
  const flow = workflow('flow', { plan: (count: number, plan) => plan.step(all, count).output })
  const fails = own.action('fails', {
    retry: { attempts: 1 },
    run: (_: unknown) => {
      throw new PermanentError('at the end')
    },
  })
  const doomed = workflow('doomed', {
    plan(count: number, plan) {
      const { output } = plan.step(all, count)
      plan.step(fails, output)
    },
  })
  const workflows = [child, flow, doomed]
  return { seen, undone, pages, broken, held, running, own, child, all, flow, doomed, workflows, agents: [own] }
}

async function childResults(s: Stage, id: string): Promise<Record<string, number>> {
  const { tasks } = await s.engine.tasks.get(id).children({ limit: 1_000 })
  const counts: Record<string, number> = {}
  for (const { outcome } of tasks) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

describe('a batch', () => {
  it('runs a child for each item, never more at once than its concurrency, page by page', async () => {
    const { seen, pages, running, flow, workflows, agents } = work({ concurrency: 20, page: 100 })
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 250)
    expect(await task.result()).toEqual({ total: 250, success: 250, failed: 0, cancelled: 0 })
    expect(seen.sort((a, b) => a - b)).toEqual(numbers(250))
    expect(running.most).toBeLessThanOrEqual(20)
    expect(running.most).toBeGreaterThan(10)
    expect(pages).toEqual([0, 100, 200])
  })

  it('keeps its parent’s history short: children are counted together', async () => {
    const { flow, workflows, agents } = work({ concurrency: 100, page: 500 })
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 1_000)
    await task.result()
    const history = await task.history()
    expect(history.flatMap(({ events }) => events).length).toBeLessThan(200)
    expect(JSON.stringify(history.slice(1)).length).toBeLessThan(20_000)
  })

  it('is part of a durable function too, from items at hand, an iterable or a page at a time', async () => {
    const { child, workflows, agents } = work()
    function* lazily() {
      for (let n = 0; n < 7; n++) yield n
    }
    async function* slowly() {
      yield* lazily()
    }
    const sources: LocalBatchDefinition<number>['items'][] = [numbers(7), [], lazily(), slowly(), ({ offset }) => (offset < 7 ? numbers(7).slice(offset, offset + 3) : [])] // biome-ignore format: one line
    const flow = workflow('function', {
      async run(which: number, task) {
        const items = [numbers(7), [], { [Symbol.iterator]: lazily }, { [Symbol.asyncIterator]: slowly }, sources[4]][which] // biome-ignore format: one line
        return task.batch('each', { workflow: child, items: items as never, page: 3 })
      },
    })
    await using s = await stage({ workflows: [...workflows, flow], agents })
    for (const [which, total] of [7, 0, 7, 7, 7].entries()) {
      const task = await s.submit(flow, which)
      expect(await task.result()).toEqual({ total, success: total, failed: 0, cancelled: 0 })
    }
  })

  it('shows its counts while it runs, and its children by pages', async () => {
    const { held, flow, workflows, agents } = work({ concurrency: 10 })
    held.set(3, () => undefined)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 25)
    await s.settle()
    const [step] = (await task.status()).steps
    expect(step).toMatchObject({
      name: 'all',
      children: { total: 25, started: 25, pending: 1, success: 24, failed: 0 },
    })
    held.get(3)?.()
    await task.result()
    const first = await task.children({ step: 1, limit: 20 })
    const second = await task.children({ step: 1, limit: 20, ...(first.next && { cursor: first.next }) })
    expect([...first.tasks, ...second.tasks].map(({ output }) => output)).toEqual(numbers(25).map((n) => n * 2))
    expect(second.next).toBeUndefined()
    expect((await task.children({ step: 2 })).tasks).toEqual([])
  })

  it('checks the items by the input schema of the workflow', async () => {
    const only = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => (value === 2 ? { issues: [{ message: 'not two' }] } : { value }) } } // biome-ignore format: one line
    const child = workflow('picky', { input: only, run: async (n: unknown) => n })
    const flow = workflow('flow', {
      run: (_: null, task) => task.batch('each', { workflow: child, items: numbers(4) }),
    })
    await using s = await stage({ workflows: [child, flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).error).toMatchObject({ code: 'STEP_FAILED', cause: { code: 'INVALID_INPUT' } })
  })
})

describe('a batch whose children fail', () => {
  it('fails fast: the others are called off, and what is done is undone', async () => {
    const { broken, held, undone, flow, workflows, agents } = work({ concurrency: 10 })
    broken.add(5)
    for (const n of [7, 8]) held.set(n, () => undefined)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 100)
    await s.settle()
    const { status, outcome, error } = await task.status()
    expect({ status, outcome }).toEqual({ status: 'stopped', outcome: 'compensated' })
    expect(error).toMatchObject({ code: 'STEP_FAILED', cause: { code: 'BATCH_FAILED', details: { failed: 1 } } })
    const counts = await childResults(s, task.id)
    // One that was called off between its step and its end is undone as well, and was cancelled.
    const { tasks } = await task.children({ limit: 100 })
    const steps = (await Promise.all(tasks.map(({ id }) => s.engine.tasks.get(id).steps()))).flat()
    expect(steps.filter((step) => step.status === 'compensated').length).toBe(undone.length)
    expect(steps.some((step) => step.status === 'success')).toBe(false)
    expect(new Set(undone).size).toBe(undone.length)
    expect(undone.length).toBeGreaterThan(0)
    expect(counts.cancelled).toBeGreaterThanOrEqual(2)
    expect(counts.success).toBeUndefined()
  })

  it.each([
    ['bears as many as it tolerates', { tolerate: 2 }, [3, 50], 'success'],
    ['bears a share of them', { tolerate: '2%' as const }, [3, 50], 'success'],
    ['bears any number', { tolerate: 'any' as const }, numbers(100), 'success'],
    ['fails when more fail', { tolerate: '1%' as const }, [3, 50], 'error'],
    ['is content with a quorum', { quorum: 40, undo: false }, [3, 50], 'success'],
    ['fails when its quorum is out of reach', { quorum: 99, undo: false }, [3, 50], 'error'],
  ])('%s', async (_, options, broken, result) => {
    const batch = work({ concurrency: 10, rescue: 'fail', ...options })
    for (const n of broken) batch.broken.add(n)
    await using s = await stage({ workflows: batch.workflows, agents: batch.agents })
    const task = await s.submit(batch.flow, 100)
    await s.settle()
    expect((await task.status()).outcome).toBe(result)
    if (result !== 'success') return
    const { success, failed } = (await task.result()) as { success: number; failed: number }
    if ('quorum' in options) expect(Math.floor(success / 20)).toBe(2)
    else expect([success, failed]).toEqual([100 - broken.length, broken.length])
  })

  it('keeps its counts when its task has stopped, though none of them succeeded', async () => {
    const { broken, flow, workflows, agents } = work({ concurrency: 10, failFast: false, rescue: 'fail' })
    for (const n of numbers(5)) broken.add(n)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 5)
    await s.settle()
    expect((await task.status()).outcome).toBe('error')
    const counts = { total: 5, started: 5, pending: 0, success: 0, failed: 5, cancelled: 0 }
    expect(await task.steps()).toMatchObject([{ status: 'error', children: counts }])
    broken.clear()
    await task.retry()
    await s.settle()
    expect(await task.steps()).toMatchObject([{ status: 'success', children: { success: 5, failed: 0 } }])
  })

  it('runs all of them to their end if it is told to', async () => {
    const { broken, seen, flow, workflows, agents } = work({ concurrency: 10, failFast: false, rescue: 'fail' })
    for (const n of [0, 1, 2]) broken.add(n)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 100)
    await s.settle()
    expect((await task.status()).error).toMatchObject({
      cause: { message: expect.stringContaining('3 of 100 children') },
    })
    expect(seen).toHaveLength(100)
  })

  it('tries again only those that failed, and those that never came to be', async () => {
    const { broken, seen, flow, workflows, agents } = work({ concurrency: 10, rescue: 'fail' })
    broken.add(5)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 100)
    await s.settle()
    expect((await task.status()).outcome).toBe('error')
    broken.clear()
    const before = seen.length
    await task.retry()
    await s.settle()
    expect(await task.result()).toEqual({ total: 100, success: 100, failed: 0, cancelled: 0 })
    expect(new Set(seen)).toEqual(new Set(numbers(100)))
    expect(seen.length - before).toBeLessThan(100 - before + 11)
    expect(await childResults(s, task.id)).toEqual({ success: 100 })
  })

  it('waits for an operator when it is told to pause', async () => {
    const { broken, flow, workflows, agents } = work({ rescue: 'pause' })
    broken.add(1)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 20)
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', steps: [{ children: { failed: 1, success: 19 } }] })
    broken.clear()
    await task.resume()
    expect(await task.result()).toMatchObject({ success: 20, failed: 0 })
  })

  it('ends after its children when its source fails', async () => {
    const { child, held, workflows, agents } = work()
    held.set(1, () => undefined)
    const flow = workflow('flow-of-pages', {
      rescue: 'fail',
      async run(_: null, task) {
        const items = ({ offset }: { offset: number }) => {
          if (offset > 0) throw new PermanentError('no more pages')
          return numbers(5)
        }
        await task.batch('each', { workflow: child, items, page: 5, onCancel: 'wait' })
      },
    })
    await using s = await stage({ workflows: [...workflows, flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).status).toBe('running')
    held.get(1)?.()
    await s.settle()
    expect((await task.status()).error).toMatchObject({ cause: { message: 'no more pages' } })
    expect(await childResults(s, task.id)).toEqual({ success: 5 })
  })

  it('counts a child that another task’s id stands in the way of as failed, and leaves that task alone', async () => {
    const { flow, child, workflows, agents } = work({ tolerate: 1 })
    await using s = await stage({ workflows, agents })
    const id = childTaskId({ id: 't', incarnation: s.engine.now().getTime().toString(36) }, '1.2')
    const first = JSON.stringify([1, { type: 'submitted', workflow: 'child', version: '1', input: 77 }])
    await s.store.submit([newTask(id, { workflow: child.name, events: first })])
    const other = s.engine.tasks.get(id)
    const task = await s.submit(flow, 4, { id: 't' })
    expect(await task.result()).toEqual({ total: 4, success: 3, failed: 1, cancelled: 0 })
    await task.compensate()
    await s.settle()
    expect((await task.status()).outcome).toBe('compensated')
    expect(await other.result()).toBe(154)
  })
})

describe('the children of a batch', () => {
  it('are called off with their task', async () => {
    const { held, undone, flow, workflows, agents } = work({ concurrency: 10 })
    for (const n of [4, 5, 6]) held.set(n, () => undefined)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 12)
    await s.settle()
    await task.cancel()
    await s.settle()
    expect((await task.status()).outcome).toBe('cancelled')
    expect(await childResults(s, task.id)).toEqual({ cancelled: 3, compensated: 9 })
    expect(undone).toHaveLength(9)
  })

  it('are forced to stop with their task', async () => {
    const { held, flow, workflows, agents } = work()
    held.set(1, () => undefined)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 3)
    await s.settle()
    await task.cancel({ force: true })
    await s.settle()
    expect(await childResults(s, task.id)).toEqual({ success: 2, cancelled: 1 })
  })

  it('that were forced to stop are asked again when their task is', async () => {
    const { held, flow, workflows, agents } = work()
    held.set(1, () => undefined)
    await using s = await stage({ workflows, agents })
    const task = await s.submit(flow, 3)
    await s.settle()
    await task.cancel({ force: true })
    await s.settle()
    await task.retry()
    await s.settle()
    await task.cancel({ compensate: false })
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    held.clear()
    await task.retry()
    expect(await task.result()).toEqual({ total: 3, success: 3, failed: 0, cancelled: 0 })
  })

  it('are undone with what comes before them, from the last to the first, so many at a time', async () => {
    const { undone, doomed, workflows, agents } = work({ concurrency: 10 })
    await using s = await stage({ workflows, agents })
    const task = await s.submit(doomed, 100)
    await s.settle()
    expect((await task.status()).outcome).toBe('compensated')
    expect([...undone].sort((a, b) => a - b)).toEqual(numbers(100))
    for (const [at, n] of undone.entries()) expect(Math.abs(n - (99 - at))).toBeLessThanOrEqual(20)
    const moves = await eventsOf(task, 'batchAdvanced')
    expect(moves.every(({ started = 0 }) => started <= 10)).toBe(true)
  })

  it('stay when the batch is not to be undone', async () => {
    const { undone, doomed, workflows, agents } = work({ undo: false })
    await using s = await stage({ workflows, agents })
    const task = await s.submit(doomed, 10)
    await s.settle()
    expect((await task.status()).outcome).toBe('error')
    expect(undone).toEqual([])
  })

  it('are counted once, whoever dies', async () => {
    const { held, seen, flow, workflows, agents } = work({ concurrency: 10, page: 15 })
    for (const n of [3, 4, 12, 13, 30]) held.set(n, () => undefined)
    using file = scratch()
    for (let life = 1; life <= 4; life++) {
      const s = await stage({ workflows, agents, store: file.store, seed: life })
      await s.submit(flow, 40, { id: 't' })
      await s.settle()
      if (life === 2) held.delete(3)
      if (life === 3) held.clear()
      await s.advance('5s')
      await s.kill()
    }
    await using last = await stage({ workflows, agents, store: file.store, seed: 9 })
    await last.advance('1m')
    const task = last.engine.tasks.get('t')
    expect(await task.result()).toEqual({ total: 40, success: 40, failed: 0, cancelled: 0 })
    expect(new Set(seen)).toEqual(new Set(numbers(40)))
    expect(await childResults(last, 't')).toEqual({ success: 40 })
    const moves = await eventsOf(task, 'batchAdvanced')
    const ended = moves.flatMap((move) => move.ended ?? []).flatMap(([from, to]) => numbers(to - from + 1).map((n) => from + n)) // biome-ignore format: one line
    expect(ended.sort((a, b) => a - b)).toEqual(numbers(40))
  })
})

it('children that exclude each other run one at a time, each in its lane', async () => {
  const running = new Map<string, number>()
  let most = 0
  const own = agent('lanes')
  const use = own.action('use', {
    async run(lane: string) {
      const now = (running.get(lane) ?? 0) + 1
      running.set(lane, now)
      most = Math.max(most, now)
      await new Promise<void>((resolve) => setImmediate(resolve))
      running.set(lane, now - 1)
    },
  })
  const child = workflow('lane', {
    exclusive: { key: (n: number) => `lane:${n % 3}` },
    run: (n: number, task) => task.run(use, `${n % 3}`),
  })
  const flow = workflow('all-lanes', {
    run: (n: number, task) => task.batch('all', { workflow: child, items: numbers(n) }),
  })
  await using s = await stage({ workflows: [child, flow], agents: [own] })
  const task = await s.submit(flow, 30)
  expect(await task.result()).toEqual({ total: 30, success: 30, failed: 0, cancelled: 0 })
  expect([...running.keys()].sort()).toEqual(['0', '1', '2'])
  expect(most).toBe(1)
})

describe('the source of a batch', () => {
  it('is asked in another process, through the work queue', async () => {
    const { pages, flow, workflows, agents } = work({ concurrency: 10, page: 20 })
    using file = scratch()
    const options = { poll: '1s', store: file.store } as const
    await using owner = await stage({ ...options, workflows, agents: [], roles: ['scheduler', 'supervisor'] })
    const { environment } = owner.engine
    await using hands = await stage({ ...options, agents, roles: ['agent'], seed: 2, environment })
    const task = await owner.submit(flow, 50)
    await owner.advance('5m')
    expect(await task.result()).toMatchObject({ total: 50, success: 50 })
    expect(pages).toEqual([0, 20, 40])
    await hands.settle()
  })
})

describe('an item of a batch that cannot be recorded', () => {
  const child = workflow('child-of-any', { run: async () => null })
  const itemsOf = (bad: unknown) => ['a', 'b', bad, 'c']
  it.each([
    ['is too large', 'x'.repeat(2_000), 'PAYLOAD_TOO_LARGE'],
    ['is no JSON', new Map(), 'UNSERIALISABLE'],
  ])(
    'fails the batch with an error that names it, for it %s: nothing was done that anybody must look after',
    async (_, bad, code) => {
      const own = agent('sources')
      const all = own.batch('all', { workflow: child, rescue: 'fail', items: () => itemsOf(bad) as never })
      const planned = workflow('planned-items', { plan: (_: null, plan) => plan.step(all, null).output })
      const local = workflow('local-items', {
        run: (_: null, task) => task.batch('each', { workflow: child, rescue: 'fail', items: itemsOf(bad) as never }),
      })
      await using s = await stage({ workflows: [child, planned, local], agents: [own], limits: { payload: 1_000 } })
      for (const task of [await s.submit(planned, null), await s.submit(local, null)]) {
        await s.advance('1m')
        expect(await codeOf(task.result())).toBe('TASK_FAILED')
        const [failed] = await eventsOf(task, 'attemptFailed')
        expect(failed).toMatchObject({ error: { code, message: expect.stringContaining('child 2') } })
        expect(failed).not.toHaveProperty('unknown')
        expect(await eventsOf(task, 'attemptFailed')).toHaveLength(1)
      }
      expect(s.alerts).toEqual([])
    },
  )
})

describe('a batch that makes no sense', () => {
  it.each([
    { concurrency: 0 },
    { page: 0 },
    { tolerate: -1 },
    { tolerate: 'some' },
    { tolerate: '101%' },
    { quorum: 0 },
    { onCancel: 'run' },
    { failFast: 1 },
    { child: { priority: 1e9 } },
  ])('is refused: %o', async (options) => {
    await expect(codeOf(Promise.resolve().then(() => work(options as Options)))).resolves.toBe('INVALID_OPTION')
  })
})
