import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Action, agent, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import { testEngine } from '../../src/testing/index.ts'
import { scratch } from '../engine/scratch.ts'
import type * as compute from './compute.ts'

const thread = new URL('./compute.ts', import.meta.url)
const retry = { attempts: 3, backoff: { initial: '10ms' } } as const

function made(options: { attemptWithin?: string; undo?: boolean } = {}) {
  const svc = agent('svc')
  const act = svc.action<typeof compute>('act', { thread, retry, ...options } as { thread: URL })
  const flow = workflow('flow', { run: (wish: compute.Wish, task) => task.run(act, wish) })
  return { act, flow, definitions: { workflows: [flow], agents: [svc] } }
}

async function running(options: Partial<TriarchOptions>, body: (triarch: Triarch) => Promise<void>) {
  using file = scratch()
  await using triarch = new Triarch({ store: file.store, poll: '10ms', ...options })
  await triarch.start()
  await body(triarch)
}

describe('an action that runs in threads', () => {
  it('computes beside the event loop, as many at a time as there are threads', async () => {
    const { flow, definitions } = made()
    await running({ ...definitions, threads: 2 }, async (triarch) => {
      const wishes = Array.from({ length: 8 }, (_, n): compute.Wish => ({ do: 'sum', numbers: [n, 1] }))
      const tasks = await Promise.all(wishes.map((wish) => triarch.submit(flow, wish)))
      const results = await Promise.all(tasks.map((task) => task.result()))
      expect(results.map(({ sum }) => sum)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      const used = new Set(results.map(({ thread }) => thread))
      expect(used.has(0)).toBe(false)
      expect(used.size).toBeLessThanOrEqual(2)
    })
  })

  it('is really stopped at its complete-by, and its thread replaced', async () => {
    const { flow, definitions } = made({ attemptWithin: '300ms' })
    const calm = agent('calm')
    const act = calm.action<typeof compute>('act', { thread })
    const after = workflow('after', { run: (wish: compute.Wish, task) => task.run(act, wish) })
    const all = { workflows: [flow, after], agents: [...definitions.agents, calm], threads: 1 }
    await running(all, async (triarch) => {
      const stuck = await triarch.submit(flow, { do: 'spin' })
      await expect(stuck.result()).rejects.toMatchObject({ cause: { cause: { code: 'STEP_TIMEOUT' } } })
      const next = await triarch.submit(after, { do: 'sum', numbers: [1] })
      expect(await next.result()).toMatchObject({ sum: 1 })
      expect(await triarch.statistics.get()).toMatchObject({ fenced: 0 })
    })
  })

  it('hears nothing of what its code posts to the parent by itself', async () => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const task = await triarch.submit(flow, { do: 'forge', numbers: [1, 2] })
      expect(await task.result()).toMatchObject({ sum: 3, note: [] })
    })
  })

  it('fails by what its code leaves behind, and is tried again', async () => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const task = await triarch.submit(flow, { do: 'stray', numbers: [1, 2] })
      expect(await task.result()).toMatchObject({ sum: 3 })
      const [step] = await task.steps()
      expect(step).toMatchObject({ attempts: 2 })
    })
  })

  it('is not hurt by what an earlier call in its thread left behind', async () => {
    const { flow, definitions } = made()
    await running({ ...definitions, threads: 1 }, async (triarch) => {
      await (await triarch.submit(flow, { do: 'leave' })).result()
      const task = await triarch.submit(flow, { do: 'release' })
      await task.result()
      expect((await task.steps())[0]).toMatchObject({ attempts: 1 })
    })
  })

  it.each([
    ['transient', 3, { name: 'TransientError', message: 'later' }],
    ['permanent', 1, { name: 'PermanentError', message: 'never' }],
    ['unknown', 3, { name: 'UnknownOutcomeError', message: 'who knows' }],
    ['plain', 1, { name: 'RangeError', message: 'plain', code: 'E_PLAIN' }],
    ['deep', 1, { name: 'PermanentError', message: 'deep', details: expect.arrayContaining([expect.any(Array)]) }],
    ['hostile', 3, { name: 'Error', message: 'what the code threw cannot leave its thread' }],
  ] as const)('fails with errors of their own kind: %s', async (kind, attempts, error) => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const task = await triarch.submit(flow, { do: 'fail', kind })
      await expect(task.result()).rejects.toMatchObject({ cause: { details: { attempts }, cause: error } })
    })
  })

  it('is tried again when its thread dies under it', async () => {
    const { flow, definitions } = made()
    await running({ ...definitions, threads: 1 }, async (triarch) => {
      const task = await triarch.submit(flow, { do: 'exit', numbers: [4] })
      expect(await task.result()).toMatchObject({ sum: 4 })
    })
  })

  it('hears that it is cancelled', async () => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const task = await triarch.submit(flow, { do: 'wait' })
      await expect.poll(async () => (await task.steps())[0]?.status).toBe('running')
      await task.cancel()
      await expect(task.result()).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
    })
  })

  it('beats, and finds its checkpoint again', async () => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const metadata = { tenant: 'a' }
      const task = await triarch.submit(flow, { do: 'beat' }, { metadata })
      expect(await task.result()).toMatchObject({ note: { checkpoint: { at: 7 }, metadata } })
    })
  })

  it('gives nothing that cannot be recorded, and cannot be suspended', async () => {
    const { flow, definitions } = made()
    await running(definitions, async (triarch) => {
      const asked = new Promise((resolve) => triarch.on('alert', resolve))
      const leak = await triarch.submit(flow, { do: 'leak' })
      // The work is done: it is held, not failed.
      expect(await asked).toMatchObject({ code: 'STEP_HELD', task: leak.id })
      expect(await leak.status()).toMatchObject({ pause: { error: { code: 'STEP_UNRECORDABLE' } } })
      await leak.cancel({ force: true })
      const nap = await triarch.submit(flow, { do: 'suspend' })
      await expect(nap.result()).rejects.toMatchObject({ cause: { cause: { code: 'STEP_MISUSE' } } })
    })
  })

  it('keeps to the limits of payloads', async () => {
    const { flow, definitions } = made()
    await running({ ...definitions, limits: { payload: 20 } }, async (triarch) => {
      const asked = new Promise((resolve) => triarch.on('alert', resolve))
      const task = await triarch.submit(flow, { do: 'sum' })
      // The work is done: it is held, not failed.
      expect(await asked).toMatchObject({ code: 'STEP_HELD', task: task.id })
      expect(await task.status()).toMatchObject({
        pause: { error: { code: 'STEP_UNRECORDABLE', cause: { code: 'PAYLOAD_TOO_LARGE' } } },
      })
      await task.cancel({ force: true })
    })
  })

  it('runs right here in virtual time', async () => {
    const { flow, definitions } = made()
    await using engine = await testEngine(definitions)
    const task = await engine.submit(flow, { do: 'sum', numbers: [2, 3] })
    const result = task.result()
    await expect.poll(() => engine.settle().then(() => task.status())).toMatchObject({ status: 'stopped' })
    expect(await result).toEqual({ sum: 5, thread: 0 })
  })

  it('has the types of its module', () => {
    const { act } = made()
    expectTypeOf(act).toExtend<Action<compute.Wish, { sum: number; thread: number }>>()
  })

  it.each([[{ thread: './compute.ts' }], [{ thread, run: () => 1 }], [{ thread, undo: () => 1 }], [{ thread: 7 }]])(
    'is refused when it makes no sense: %o',
    (definition) => {
      expect(() => agent('svc').action('act', definition as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      )
    },
  )
})
