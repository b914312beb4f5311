import { describe, expect, it } from 'vitest'
import { agent, type StepContext, TransientError, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'

const DAY = 86_400_000

const thrown: Record<string, unknown> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-1': -1,
  'a BigInt': 5n,
  'a text': '5s',
  'an object': {},
  'the largest number': Number.MAX_VALUE,
}

describe('what an error says by retryAfter', () => {
  it.each(Object.entries(thrown))('is bounded, or counts as not given: %s', async (_, retryAfter) => {
    const bank = agent('bank')
    const charge = bank.action('charge', {
      run(_: null, { attempt }: StepContext) {
        // Past the check of the constructor, as another copy of the package may.
        if (attempt === 1) throw Object.assign(new TransientError('later'), { retryAfter })
        return attempt
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(charge, null) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null)
    await s.settle()
    const [failed] = await eventsOf(task, 'attemptFailed')
    const wait = (failed?.next?.at ?? 0) - s.engine.now().getTime()
    expect(wait).toBeLessThanOrEqual(typeof retryAfter === 'number' && retryAfter === Number.MAX_VALUE ? 30 * DAY : 200)
    await s.advance('31d')
    expect(await task.result()).toBe(2)
  })

  it('does no harm where it cannot be read', async () => {
    const bank = agent('bank')
    const charge = bank.action('charge', {
      run(_: null, { attempt }: StepContext) {
        if (attempt > 1) return attempt
        throw Object.defineProperty(new TransientError('later'), 'retryAfter', {
          get() {
            throw new Error('nobody reads it')
          },
        })
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(charge, null) })
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, null)
    await s.advance('1s')
    expect(await task.result()).toBe(2)
  })
})

describe('a step that waits for its next attempt', () => {
  const bank = agent('bank')
  const undone: string[] = []
  const charge = bank.action('charge', {
    run({ refuses }: { refuses: number }, { attempt }: StepContext) {
      if (attempt <= refuses) throw new TransientError('later', { retryAfter: 20 * DAY })
      return `attempt ${attempt}`
    },
  })
  const book = bank.action('book', {
    run: () => 'booked',
    undo(_, { attempt }) {
      if (attempt === 1) throw new TransientError('later', { retryAfter: 20 * DAY })
      undone.push(`attempt ${attempt}`)
    },
  })
  const flow = workflow('flow', { run: (input: { refuses: number }, task) => task.run(charge, input) })
  const undoing = workflow('undoing', {
    async run(_: null, task) {
      await task.run(book, null as never)
      throw new Error('and then it failed')
    },
  })
  const staged = () => stage({ workflows: [flow, undoing], agents: [bank] })

  it('makes it at once when an operator says so, and is told so in its history', async () => {
    await using s = await staged()
    const task = await s.submit(flow, { refuses: 1 })
    await s.settle()
    await task.retry({ step: 1, reason: 'the bank is back', actor: 'ada' })
    // The agent itself rests for an hour at most.
    await s.advance('1h')
    expect(await task.result()).toBe('attempt 3')
    expect(await eventsOf(task, 'stepRetried')).toMatchObject([{ id: 1, note: 'the bank is back', actor: 'ada' }])
  })

  it('makes it with another input when an operator gives one', async () => {
    await using s = await staged()
    const task = await s.submit(flow, { refuses: 9 })
    await s.settle()
    await task.retry({ step: 1, input: { refuses: 0 } })
    await s.advance('1h')
    expect(await task.result()).toBe('attempt 3')
  })

  it('is skipped when an operator says so', async () => {
    await using s = await staged()
    const task = await s.submit(flow, { refuses: 9 })
    await s.settle()
    await task.skip({ step: 1, output: 'paid in cash' })
    await s.settle()
    expect(await task.result()).toBe('paid in cash')
    expect(await task.status()).toMatchObject({ outcome: 'warning' })
  })

  it('goes on while its task is paused, which stays paused', async () => {
    await using s = await staged()
    const task = await s.submit(flow, { refuses: 1 })
    await s.settle()
    await task.pause()
    await task.retry({ step: 1 })
    await s.advance('1h')
    expect(await task.status()).toMatchObject({ status: 'paused' })
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
    await task.resume()
    await s.settle()
    expect(await task.result()).toBe('attempt 3')
  })

  it('is hurried and skipped alike when it is an undo', async () => {
    await using s = await staged()
    const [one, two] = [await s.submit(undoing, null), await s.submit(undoing, null)]
    // The agent rests for an hour when the first of them is refused.
    await s.advance('1h')
    await one.retry({ step: 1 })
    await two.skip({ step: 1 })
    await s.advance('1h')
    expect([await codeOf(one.result()), await codeOf(two.result())]).toEqual(['TASK_COMPENSATED', 'TASK_COMPENSATED'])
    expect(undone).toEqual(['attempt 3'])
  })

  it.each(['1h', '21d'] as const)(
    'is skipped while its task is paused, also when its instant has passed meanwhile: %s',
    async (passed) => {
      await using s = await staged()
      const [one, two] = [await s.submit(undoing, null), await s.submit(flow, { refuses: 9 })]
      await s.advance('1h')
      await one.pause()
      await two.pause()
      await s.advance(passed)
      await one.skip({ step: 1, reason: 'done by hand' })
      await two.skip({ step: 1, output: 'paid in cash' })
      await s.settle()
      expect([await one.status(), await two.status()]).toMatchObject([{ status: 'paused' }, { status: 'paused' }])
      expect(await codeOf(one.skip({ step: 1 }))).toBe('ILLEGAL_MOVE')
      await one.resume()
      await two.resume()
      await s.settle()
      expect(await codeOf(one.result())).toBe('TASK_COMPENSATED')
      expect(await two.result()).toBe('paid in cash')
      expect(await eventsOf(one, 'undone')).toMatchObject([{ by: 'operator', note: 'done by hand' }])
    },
  )

  it('and no other is: one whose attempt runs is refused, by code', async () => {
    const slow = agent('slow')
    const run = slow.action('run', { run: () => new Promise<never>(() => undefined) })
    const stuck = workflow('stuck', { run: (_: null, task) => task.run(run, null as never) })
    await using s = await stage({ workflows: [stuck], agents: [slow] })
    const task = await s.submit(stuck, null)
    await s.settle()
    expect(await codeOf(task.retry({ step: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.retry({ step: 7 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.retry())).toBe('ILLEGAL_MOVE')
  })
})
