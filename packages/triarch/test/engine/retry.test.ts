import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import {
  type ActionDefinition,
  agent,
  PermanentError,
  type StepContext,
  TransientError,
  UnknownOutcomeError,
  workflow,
} from '../../src/index.ts'
import { milliseconds } from '../../src/value/duration.ts'
import { causes, codeOf, eventsOf, never, type Stage, stage } from './harness.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A workflow of one step, run by an action of an agent of its own, and the instants at which the action ran. */
function oneStep(options: Omit<ActionDefinition, 'input' | 'output' | 'plan' | 'finalize'>) {
  const own = agent('svc')
  const times: number[] = []
  const contexts: StepContext[] = []
  const clock: { stage?: Stage } = {}
  const action = own.action('act', {
    ...options,
    run(input: unknown, step: StepContext) {
      times.push(clock.stage?.engine.now().getTime() ?? 0)
      contexts.push(step)
      return options.run?.(input as never, step) as unknown
    },
  })
  const flow = workflow('one-step', { run: (input: unknown, task) => task.run(action, input) })
  return { agents: [own], workflows: [flow], action, flow, times, contexts, clock }
}

async function play(given: ReturnType<typeof oneStep>): Promise<Stage> {
  const s = await stage({ workflows: given.workflows, agents: given.agents })
  given.clock.stage = s
  return s
}

function capture(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

const steady = { jitter: false, initial: '1s', factor: 2, max: '5s' } as const

describe('a failed attempt', () => {
  it('is followed by others at growing distances, up to the longest, until one succeeds', async () => {
    const given = oneStep({
      retry: { attempts: 10, backoff: steady },
      run: (_: unknown, step) => (step.attempt < 6 ? Promise.reject(new Error('busy')) : 'done'),
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect(await task.result()).toBe('done')
    expect(given.times.map((at) => at - (given.times[0] ?? 0))).toEqual([0, 1_000, 3_000, 7_000, 12_000, 17_000])
    expect(new Set(given.contexts.map((step) => step.idempotencyKey)).size).toBe(1)
    expect(given.contexts.map((step) => step.attempt)).toEqual([1, 2, 3, 4, 5, 6])
    expect((await task.status()).failures).toBe(5)
  })

  it('waits between half and the whole of the backoff, at random, with jitter', async () => {
    const given = oneStep({
      retry: { attempts: 40, backoff: { initial: '10s', factor: 1, max: '10s', jitter: true } },
      run: () => Promise.reject(new Error('busy')),
    })
    await using s = await play(given)
    await s.submit(given.flow, null)
    await s.advance('10m')
    const gaps = given.times.slice(1).map((at, index) => at - (given.times[index] ?? 0))
    expect(gaps).toHaveLength(39)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5_000)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(10_000)
    expect(new Set(gaps).size).toBeGreaterThan(20)
  })

  it('is the last when the attempts are used up', async () => {
    const given = oneStep({ retry: { attempts: 3, backoff: steady }, run: () => Promise.reject(new Error('busy')) })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1h')
    expect(given.times).toHaveLength(3)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(causes((await task.status()).error)).toContain('busy')
  })

  it('is the last when its error is permanent', async () => {
    const given = oneStep({ run: () => Promise.reject(new PermanentError('card refused')) })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(1)
  })

  it('is the last when retryIf says so; a retryIf that throws has no say', async () => {
    const given = oneStep({
      retry: {
        backoff: steady,
        retryIf: (error) => {
          if ((error as Error).message === 'odd') throw new Error('no idea')
          return (error as Error).message !== 'final'
        },
      },
      run: (_: unknown, step) => Promise.reject(new Error(['odd', 'busy', 'final'][step.attempt - 1])),
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(3)
  })

  it.each([
    ['a TypeError', () => (undefined as unknown as { id: string }).id],
    ['a ReferenceError', () => new Function('return nowhere')()],
    ['a SyntaxError of code', () => new RegExp(['('].join(''))],
    ['a RangeError', () => new Array(-1)],
    ['a failed assertion', () => assert.equal(1, 2)],
    ['an option that Triarch does not know', () => milliseconds('soon' as never, 'wait')],
  ])('is the last when it was a programming error: %s', async (_, wrong) => {
    const given = oneStep({ retry: { backoff: steady }, run: async () => void wrong() })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(1)
  })

  it.each([
    ['a fetch that fails', () => new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })],
    ['a fetch that fails without a cause', () => new TypeError('Failed to fetch')],
    ['a body that breaks off', () => new TypeError('terminated', { cause: new Error('other side closed') })],
    ['an answer that is no JSON', () => capture(() => JSON.parse('<html>'))],
    ['an error of a class of its own', () => Object.assign(new TypeError('odd'), { name: 'Odd' })],
  ])('is not the last when it was the network or the service: %s', async (_, error) => {
    const given = oneStep({
      retry: { backoff: steady },
      run: (_: unknown, step) => (step.attempt === 1 ? Promise.reject(error()) : 'done'),
    })
    await using s = await play(given)
    expect(await (await s.submit(given.flow, null)).result()).toBe('done')
  })

  it('is not the last though it was a programming error, where retryIf says so', async () => {
    const given = oneStep({
      retry: { attempts: 3, backoff: steady, retryIf: () => true },
      run: (_: unknown) => Promise.reject(new TypeError('not yet loaded')),
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(3)
  })

  it('of a compensation is the last when the retryIf of undoRetry says so', async () => {
    let undone = 0
    const own = agent('svc')
    const action = own.action('act', {
      retry: { retryIf: () => true },
      undoRetry: { backoff: steady, retryIf: () => false },
      run: async (_: null) => 1,
      undo: () => {
        undone++
        throw new Error('no')
      },
    })
    const flow = workflow('undone', {
      async run(_: null, task) {
        await task.run(action, null)
        throw new Error('undo it')
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect([undone, (await task.status()).pause?.cause]).toEqual([1, 'undo'])
  })

  it('is followed by another no sooner than the service asked for', async () => {
    const given = oneStep({
      retry: { backoff: steady },
      run: (_: unknown, step) =>
        step.attempt === 1 ? Promise.reject(new TransientError('slow down', { retryAfter: 10 * MINUTE })) : 1,
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance(10 * MINUTE - 1)
    expect(given.times).toHaveLength(1)
    await s.advance(1)
    expect(await task.result()).toBe(1)
  })

  it('is in the history: when, where, how long, with cause and stack', async () => {
    const given = oneStep({
      retry: { attempts: 2, backoff: steady },
      run: async (_: unknown, step) => {
        if (step.attempt === 1) throw new Error('no answer', { cause: new TypeError('socket hang up') })
        return 1
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    await task.result()
    const [failed, ...others] = await eventsOf(task, 'attemptFailed')
    expect(others).toEqual([])
    expect(failed).toMatchObject({ id: 1, operation: 'run', attempt: 1, next: { operation: 'run' } })
    expect(failed?.startedAt).toBe(given.times[0])
    expect(failed?.node).toBe((await s.engine.triarch.nodes.list())[0]?.id)
    expect(causes(failed?.error)).toEqual(['no answer', 'socket hang up'])
    expect(failed?.error.stack).toContain('retry.test.ts')
    expect((await eventsOf(task, 'stepCompleted'))[0]).toMatchObject({ attempt: 2, output: 1 })
  })

  it('waits long without memory or slot: others use them meanwhile', async () => {
    const own = agent('narrow', { concurrency: 1 })
    const flaky = own.action('flaky', {
      retry: { backoff: { initial: '6h', max: '6h', jitter: false } },
      run: (_: null, step) => (step.attempt === 1 ? Promise.reject(new Error('down')) : 'up'),
    })
    const quick = own.action('quick', { run: (n: number) => n })
    const waits = workflow('waits', { run: (_: null, task) => task.run(flaky, null) })
    const other = workflow('other', { run: (n: number, task) => task.run(quick, n) })
    await using s = await stage({ workflows: [waits, other], agents: [own] })
    const task = await s.submit(waits, null)
    await s.settle()
    expect((await task.status()).lockedBy).toBeUndefined()
    expect(await (await s.submit(other, 5)).result()).toBe(5)
    await s.advance(6 * HOUR - 1)
    expect((await task.status()).status).toBe('running')
    await s.advance(1)
    expect(await task.result()).toBe('up')
  })
})

describe('complete-by', () => {
  it('ends an attempt that takes too long, fires its signal, and tries again', async () => {
    const signals: boolean[] = []
    const given = oneStep({
      attemptWithin: '10s',
      retry: { backoff: steady },
      run(_: unknown, step) {
        if (step.attempt === 2) return 'in time'
        step.signal.addEventListener('abort', () => signals.push(true))
        return never()
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance(9_999)
    expect(signals).toEqual([])
    await s.advance('1m')
    expect(await task.result()).toBe('in time')
    expect(signals).toEqual([true])
    expect(given.contexts[0]?.completeBy.getTime()).toBe((given.times[0] ?? 0) + 10_000)
    expect((await eventsOf(task, 'attemptFailed'))[0]).toMatchObject({
      unknown: true,
      error: { code: 'STEP_TIMEOUT' },
    })
  })

  it('makes a late result count for nothing but in the statistics', async () => {
    let answer: (value: string) => void = () => undefined
    const given = oneStep({
      attemptWithin: '10s',
      retry: { backoff: steady },
      run: (_: unknown, step) =>
        step.attempt === 1
          ? new Promise((resolve) => {
              answer = resolve
            })
          : 'second',
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('10s')
    answer('first')
    await s.advance('1m')
    expect(await task.result()).toBe('second')
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
    expect((await s.engine.triarch.statistics.get()).stale).toBe(1)
  })

  it('of a step bounds all its attempts together', async () => {
    const given = oneStep({
      attemptWithin: '1h',
      stepWithin: '90s',
      retry: { attempts: 100, backoff: { initial: '20s', max: '20s', jitter: false } },
      run: (_: unknown, step) => (step.attempt < 4 ? Promise.reject(new Error('busy')) : never()),
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('2m')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(4)
    const end = (await task.history()).at(-1)?.at.getTime() ?? 0
    expect(end - (given.times[0] ?? 0)).toBe(90_000)
  })

  it('of a step also ends its wait for an agent that never comes', async () => {
    const nobody = agent('nobody')
    const act = nobody.action('act', { stepWithin: '2h', rescue: 'fail', run: () => 1 })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null as never) })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect((await task.status()).status).toBe('running')
    await s.advance('3h')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
  })
})

describe('a heartbeat', () => {
  it('that stays away gives the attempt up; one that comes keeps it alive', async () => {
    const given = oneStep({
      attemptWithin: '1d',
      heartbeatWithin: '1m',
      retry: { backoff: steady },
      run: (_: unknown, step) =>
        new Promise((resolve) => {
          if (step.attempt === 1) return
          const beat = (left: number): void => {
            if (left === 0) return resolve('alive')
            step.heartbeat({ progress: left })
            beats.timer(50_000, () => beat(left - 1))
          }
          beat(5)
        }),
    })
    await using s = await play(given)
    const beats = s.engine.environment
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect((await eventsOf(task, 'attemptFailed'))[0]).toMatchObject({
      unknown: true,
      error: { code: 'HEARTBEAT_MISSED' },
    })
    await s.advance('10m')
    expect(await task.result()).toBe('alive')
    expect(given.times).toHaveLength(2)
    expect((await eventsOf(task, 'heartbeat')).map((event) => event.progress)).toEqual([5, 4, 3, 2, 1])
  })

  it('tells in the status how far each running step is', async () => {
    let finish: () => void = () => undefined
    const given = oneStep({
      retry: { backoff: steady },
      run: async (_: unknown, step) => {
        step.heartbeat({ progress: { page: step.attempt } })
        if (step.attempt === 1) throw new TransientError('busy')
        await new Promise<void>((resolve) => (finish = resolve))
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('5s')
    expect((await task.status()).steps).toEqual([
      {
        ...{ id: 1, name: 'act', operation: 'run', attempt: 2, progress: { page: 2 }, held: undefined },
        error: expect.objectContaining({ message: 'busy' }),
      },
    ])
    finish()
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'stopped', steps: [] })
  })

  it('carries a checkpoint that the next attempt receives', async () => {
    const given = oneStep({
      retry: { backoff: steady },
      async run(_: unknown, step) {
        if (step.attempt === 3) return step.checkpoint
        step.heartbeat({ checkpoint: { page: step.attempt * 10, before: step.checkpoint ?? null } })
        throw new Error('cut off')
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect(await task.result()).toEqual({ page: 20, before: { page: 10, before: null } })
  })
})

describe('a step that must run at most once', () => {
  it('is not tried again when it failed for certain', async () => {
    const given = oneStep({ semantics: 'at-most-once', run: () => Promise.reject(new TransientError('busy')) })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(given.times).toHaveLength(1)
  })

  it('pauses for an operator when nobody knows whether it took effect', async () => {
    const given = oneStep({ semantics: 'at-most-once', attemptWithin: '10s', run: () => never() })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1h')
    expect(given.times).toHaveLength(1)
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'unknown-outcome' } })
    expect(s.alerts).toMatchObject([{ task: task.id, cause: 'unknown-outcome', step: 1 }, { cause: 'slot-overrun' }])
    await task.skip({ step: 1, output: 'it did' })
    expect(await task.result()).toBe('it did')
    expect((await task.status()).outcome).toBe('warning')
  })

  it('asks the service instead, when it can', async () => {
    const given = oneStep({
      semantics: 'at-most-once',
      attemptWithin: '10s',
      run: () => never(),
      verify: async () => ({ done: true as const, output: 'found' }),
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect(await task.result()).toBe('found')
    expect(given.times).toHaveLength(1)
  })
})

describe('an unknown outcome is verified', () => {
  it('before a retry: what was done is not done again', async () => {
    const asked: string[] = []
    const given = oneStep({
      run: () => Promise.reject(new UnknownOutcomeError('connection lost')),
      verify: async (_: unknown, step) => {
        asked.push(step.idempotencyKey)
        return { done: true as const, output: 'receipt' }
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null, { id: 't' })
    await s.advance('1m')
    expect(await task.result()).toBe('receipt')
    expect(given.times).toHaveLength(1)
    expect(asked).toEqual([given.contexts[0]?.idempotencyKey])
    expect((await eventsOf(task, 'stepCompleted'))[0]?.by).toBe('verify')
  })

  it('before a retry: what was not done is tried again', async () => {
    let asked = 0
    const given = oneStep({
      run: (_: unknown, step) => (step.attempt < 3 ? Promise.reject(new UnknownOutcomeError('lost')) : 'done'),
      verify: async () => {
        asked++
        return { done: false as const }
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1m')
    expect(await task.result()).toBe('done')
    expect([given.times.length, asked]).toEqual([3, 2])
  })

  it('before a rescue: done means success, not done means rescue', async () => {
    for (const done of [true, false]) {
      const given = oneStep({
        retry: { attempts: 1 },
        rescue: { skip: 'nothing' },
        run: () => Promise.reject(new UnknownOutcomeError('lost')),
        verify: async () => (done ? { done, output: 'found' } : { done: false as const }),
      })
      await using s = await play(given)
      const task = await s.submit(given.flow, null)
      await s.advance('1m')
      expect(await task.result()).toBe(done ? 'found' : 'nothing')
      expect((await task.status()).outcome).toBe(done ? 'success' : 'warning')
    }
  })

  it('and when the service cannot tell either, asked again, then held for an operator', async () => {
    let asked = 0
    const given = oneStep({
      retry: { attempts: 1 },
      undoRetry: { attempts: 3, backoff: steady },
      run: () => Promise.reject(new UnknownOutcomeError('lost')),
      verify: async () => {
        asked++
        return { done: 'unknown' }
      },
    })
    await using s = await play(given)
    const task = await s.submit(given.flow, null)
    await s.advance('1h')
    expect(asked).toBe(3)
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'unknown-outcome' } })
    expect(s.alerts).toHaveLength(1)
    await task.retry()
    await s.advance('1h')
    // An operator's retry is another attempt: it is asked about before it, and again after it.
    expect(asked).toBe(7)
    expect(given.times).toHaveLength(2)
  })

  it('before an undo: what turns out done is undone, what was not is not', async () => {
    for (const done of [true, false]) {
      const log: string[] = []
      const given = oneStep({
        attemptWithin: '10s',
        run: () => never(),
        verify: async () => {
          log.push('verify')
          return done ? { done, output: 'charge' } : { done: false as const }
        },
        undo: ({ output }: { output: unknown }) => void log.push(`undo ${output}`),
      })
      await using s = await play(given)
      const task = await s.submit(given.flow, null)
      await s.advance('5s')
      await task.cancel()
      await s.advance('1m')
      expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
      expect(log).toEqual(done ? ['verify', 'undo charge'] : ['verify'])
    }
  })
})
