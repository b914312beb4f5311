import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  agent,
  ChildFailedError,
  PermanentError,
  SignalTimeoutError,
  StepFailedError,
  workflow,
} from '../../src/index.ts'
import { childOf, codeOf, events, eventsOf, never, stage } from './harness.ts'

const math = agent('math')
const double = math.action('double', { run: async (n: number) => n * 2 })
const refuse = math.action('refuse', {
  run: async (why: string): Promise<number> => {
    throw new PermanentError(why)
  },
})
/** Takes this long. */
const slow = math.action('slow', {
  rescue: 'fail',
  attemptWithin: '1h',
  run: (_: number): Promise<number> => never(),
})
const agents = [math]

describe('a durable function', () => {
  it('runs steps one after the other, each with what the one before gave', async () => {
    const sequence = workflow('sequence', {
      run: async (n: number, task) => task.run(double, await task.run(double, await task.run(double, n))),
    })
    await using s = await stage({ workflows: [sequence], agents })
    const task = await s.submit(sequence, 1)
    expect(await task.result()).toBe(8)
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'success', output: 8, failures: 0 })
  })

  it('runs steps side by side with Promise.all, race, any and allSettled', async () => {
    const parallel = workflow('parallel', {
      async run(n: number, task) {
        const all = await Promise.all([task.run(double, n), task.run(double, n + 1)])
        const race = await Promise.race([task.sleep('1h').then(() => 'timer'), task.run(double, 5)])
        const any = await Promise.any([task.run(refuse, 'no'), task.run(double, 6)])
        const settled = await Promise.allSettled([task.run(refuse, 'no'), task.run(double, 7)])
        return { all, race, any, settled: settled.map(({ status }) => status) }
      },
    })
    await using s = await stage({ workflows: [parallel], agents })
    const output = await (await s.submit(parallel, 1)).result()
    expect(output).toEqual({ all: [2, 4], race: 10, any: 12, settled: ['rejected', 'fulfilled'] })
  })

  it('gives a failed step to try/catch, with its number of attempts and its cause', async () => {
    const careful = workflow('careful', {
      async run(_: null, task) {
        try {
          return await task.run(refuse, 'sold out')
        } catch (error) {
          if (!(error instanceof StepFailedError)) throw error
          return { code: error.code, attempts: error.attempts, action: error.action, cause: String(error.cause) }
        }
      },
    })
    await using s = await stage({ workflows: [careful], agents })
    expect(await (await s.submit(careful, null)).result()).toEqual({
      code: 'STEP_FAILED',
      attempts: 1,
      action: 'math.refuse',
      cause: 'PermanentError: sold out',
    })
  })

  it('runs a local step once and remembers what it gave', async () => {
    let runs = 0
    const local = workflow('local', {
      async run(_: null, task) {
        const given = await task.run('look', (step) => ({ run: ++runs, key: step.idempotencyKey }))
        await task.sleep('1d')
        return given
      },
    })
    await using s = await stage({ workflows: [local] })
    const task = await s.submit(local, null, { id: 't' })
    await s.advance('1d')
    expect(await task.result()).toEqual({ run: 1, key: expect.stringMatching(/^t~[0-9a-z]+:1$/) })
    expect(runs).toBe(1)
  })

  it('hands out copies: what the code does to a value does not reach the history', async () => {
    const give = math.actions.get('give') ?? math.action('give', { run: async (_: null) => ({ list: [1] }) })
    const spoil = workflow('spoil', {
      async run(_: null, task) {
        const given = (await task.run(give, null)) as { list: number[] }
        given.list.push(2)
        await task.sleep('1d')
        return given.list.length
      },
    })
    await using s = await stage({ workflows: [spoil], agents })
    const task = await s.submit(spoil, null)
    await s.advance('1d')
    expect(await task.result()).toBe(2)
    expect((await eventsOf(task, 'stepCompleted'))[0]?.output).toEqual({ list: [1] })
  })
})

describe('a sleep', () => {
  it.each(['900ms', '4s', '1h', '30d', '364d'] as const)('of %s ends neither early nor late', async (duration) => {
    const sleeper = workflow('sleeper', {
      async run(_: null, task) {
        await task.sleep(duration)
        return task.now().toISOString()
      },
    })
    // Looking seldom makes a year cheap; what sleeps is woken by its alarm.
    await using s = await stage({ workflows: [sleeper], lease: '90d', sweep: '30d', poll: '30d' })
    const before = s.engine.now().getTime()
    const task = await s.submit(sleeper, null)
    await s.advance(duration)
    expect(await task.result()).toBe(s.engine.now().toISOString())
    const fired = (await task.history()).find((r) => r.events.some((e) => e.type === 'timerFired'))?.at.getTime() ?? 0
    expect(fired - before).toBe(s.engine.now().getTime() - before)
  })

  it('is still asleep one millisecond before its time', async () => {
    const sleeper = workflow('sleeper', { run: (_: null, task) => task.sleep('1d') })
    await using s = await stage({ workflows: [sleeper] })
    const task = await s.submit(sleeper, null)
    await s.advance(86_400_000 - 1)
    expect((await task.status()).status).toBe('running')
    await s.advance(1)
    expect((await task.status()).outcome).toBe('success')
  })

  it('may be until an instant; one that has passed ends at once', async () => {
    const until = workflow('until', {
      async run(at: string, task) {
        await task.sleep(new Date('2020-01-01'))
        await task.sleep(new Date(at))
      },
    })
    await using s = await stage({ workflows: [until] })
    const task = await s.submit(until, '2026-02-01T00:00:00Z')
    await s.advance('30d')
    expect((await task.status()).status).toBe('running')
    await s.advance('1d')
    expect((await task.status()).outcome).toBe('success')
  })

  it('costs a row and no memory: 500 sleep, all wake', async () => {
    const sleeper = workflow('sleeper', { run: (_: null, task) => task.sleep('7d') })
    await using s = await stage({ workflows: [sleeper], limits: { tasks: 50 } })
    const tasks = await Promise.all(Array.from({ length: 500 }, () => s.submit(sleeper, null)))
    await s.settle()
    expect(
      (await s.engine.triarch.tasks.list({ limit: 1_000 })).tasks.every((task) => task.lockedBy === undefined),
    ).toBe(true)
    await s.advance('7d')
    for (const task of tasks) expect((await task.status()).outcome).toBe('success')
  })
})

describe('a signal', () => {
  const listen = workflow('listen', {
    async run(count: number, task) {
      await task.run(double, 1)
      await task.sleep('1h')
      const got: unknown[] = []
      for (let i = 0; i < count; i++) got.push(await task.waitForSignal('news'))
      return got
    },
  })

  it('that comes before the wait is kept, and the order stays', async () => {
    await using s = await stage({ workflows: [listen], agents })
    const task = await s.submit(listen, 4)
    for (const news of [1, { two: 2 }]) await task.signal('news', news)
    await task.signal('gossip', 0)
    await s.advance('1h')
    await task.signal('news', 'three')
    await task.signal('news')
    expect(await task.result()).toEqual([1, { two: 2 }, 'three', null])
  })

  it('goes to the wait that was there first', async () => {
    const pair = workflow('pair', {
      run: (_: null, task) => Promise.all([task.waitForSignal('e'), task.waitForSignal('e'), task.waitForSignal('f')]),
    })
    await using s = await stage({ workflows: [pair] })
    const task = await s.submit(pair, null)
    for (const [name, payload] of Object.entries({ f: 'f', e: 'first' })) await task.signal(name, payload)
    await task.signal('e', 'second')
    expect(await task.result()).toEqual(['first', 'second', 'f'])
  })

  it('that does not come in time rejects the wait, at the timeout and not before; one that comes later is kept', async () => {
    const patient = workflow('patient', {
      async run(_: null, task) {
        try {
          return await task.waitForSignal('ok', { timeout: '2d' })
        } catch (error) {
          if (!(error instanceof SignalTimeoutError)) throw error
          return { missed: error.signal, later: await task.waitForSignal('ok', { timeout: '1d' }) }
        }
      },
    })
    await using s = await stage({ workflows: [patient] })
    const late = await s.submit(patient, null)
    const timely = await s.submit(patient, null)
    await s.advance(2 * 86_400_000 - 1)
    await timely.signal('ok', 'here')
    expect(await timely.result()).toBe('here')
    expect(await eventsOf(late, 'waitTimedOut')).toHaveLength(0)
    await s.advance(1)
    await late.signal('ok', 'after all')
    expect(await late.result()).toEqual({ missed: 'ok', later: 'after all' })
  })

  it('is checked by its schema: what the schema makes of it is given, what it refuses is told, and waited past', async () => {
    const typed = workflow('typed', {
      async run(_: null, task) {
        const n = await task.waitForSignal('n', { schema: z.coerce.number() })
        const other = await task.waitForSignal('n', { schema: z.number() })
        const late = await task.waitForSignal('n', { schema: z.number(), timeout: '1m' }).catch((error) => error.code)
        return { n, other, late }
      },
    })
    await using s = await stage({ workflows: [typed] })
    const task = await s.submit(typed, null)
    await task.signal('n', '42')
    await task.signal('n', '43')
    await s.settle()
    expect(s.alerts).toMatchObject([{ code: 'SIGNAL_REFUSED', task: task.id }])
    await task.signal('n', 44)
    await task.signal('n', 'wrong again')
    await s.advance('1h')
    expect(await task.result()).toEqual({ n: 42, other: 44, late: 'SIGNAL_TIMEOUT' })
  })
})

describe('a child task', () => {
  const child = workflow('child', {
    async run(n: number, task) {
      if (n < 0) await task.run(refuse, 'negative')
      if (n > 100) await task.sleep('10d')
      if (n > 1_000) await task.run(slow, n)
      return task.run(double, n)
    },
  })

  it('that is called gives its output, under an id drawn from the parent', async () => {
    const parent = workflow('parent', {
      run: async (n: number, task) => Promise.all([task.call(child, n), task.call(child, n + 1, { id: 'named' })]),
    })
    await using s = await stage({ workflows: [parent, child], agents })
    const task = await s.submit(parent, 4, { id: 'p' })
    expect(await task.result()).toEqual([8, 10])
    expect(await s.engine.tasks.get(await childOf(s, 'p', 1)).result()).toBe(8)
    expect((await s.engine.tasks.get('named').status()).parent).toBe('p')
  })

  it('that is started is known at once and lives on after its parent', async () => {
    const parent = workflow('parent', { run: async (n: number, task) => (await task.start(child, n)).id })
    await using s = await stage({ workflows: [parent, child], agents })
    const id = await (await s.submit(parent, 500)).result()
    expect((await s.engine.tasks.get(id).status()).status).not.toBe('stopped')
    await s.advance('10d')
    expect(await s.engine.tasks.get(id).result()).toBe(1_000)
  })

  it('that fails rejects the call with its result and cause', async () => {
    const parent = workflow('parent', {
      async run(n: number, task) {
        try {
          return await task.call(child, n)
        } catch (error) {
          if (!(error instanceof ChildFailedError)) throw error
          return { child: error.childId, outcome: error.outcome, cause: String(error.cause) }
        }
      },
    })
    await using s = await stage({ workflows: [parent, child], agents })
    const output = await (await s.submit(parent, -1, { id: 'p' })).result()
    expect(output).toMatchObject({ child: await childOf(s, 'p', 1), outcome: 'error' })
    expect(JSON.stringify(output)).toContain('negative')
  })

  it('whose id belongs to another task fails the call instead of waiting for ever', async () => {
    const parent = workflow('parent', { run: (n: number, task) => task.call(child, n, { id: 'taken' }) })
    await using s = await stage({ workflows: [parent, child], agents })
    await (await s.submit(child, 1, { id: 'taken' })).result()
    const task = await s.submit(parent, 1)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect((await task.status()).error?.cause?.code).toBe('TASK_EXISTS')
  })

  it('follows its parent policy when the parent is cancelled: cancel, detach or wait', async () => {
    const parent = workflow('parent', {
      run: async (policy: 'cancel' | 'detach' | 'wait', task) =>
        task.call(child, 500, { onCancel: policy, undo: false }),
    })
    await using s = await stage({ workflows: [parent, child], agents })
    for (const policy of ['cancel', 'detach', 'wait'] as const) await s.submit(parent, policy, { id: policy })
    await s.settle()
    for (const policy of ['cancel', 'detach', 'wait']) await s.engine.tasks.get(policy).cancel()
    await s.settle()
    const seen = async (id: string) => {
      const { status, outcome } = await s.engine.tasks.get(id).status()
      return `${status} ${outcome}`
    }
    expect(await seen(await childOf(s, 'cancel', 1))).toBe('stopped cancelled')
    expect(await seen('cancel')).toBe('stopped cancelled')
    expect(await seen(await childOf(s, 'detach', 1))).toBe('running pending')
    expect(await seen('detach')).toBe('stopped cancelled')
    expect(await seen(await childOf(s, 'wait', 1))).toBe('running pending')
    expect(await seen('wait')).toBe('running pending')
    await s.advance('10d')
    expect(await seen(await childOf(s, 'detach', 1))).toBe('stopped success')
    expect(await seen(await childOf(s, 'wait', 1))).toBe('stopped success')
    expect(await seen('wait')).toBe('stopped cancelled')
  })
})

describe('what a workflow learns from its context', () => {
  it('is the same when it is replayed: time, chance, ids', async () => {
    const seen: unknown[][] = []
    const chance = workflow('chance', {
      async run(_: null, task) {
        const mine = [task.now().getTime(), task.random(), task.uuid()]
        seen.push(mine)
        for (let i = 0; i < 3; i++) {
          await task.sleep('1d')
          mine.push(task.now().getTime(), task.random(), task.uuid())
        }
      },
    })
    await using s = await stage({ workflows: [chance] })
    const task = await s.submit(chance, null)
    await s.advance('3d')
    await task.result()
    const whole = seen.at(-1) as unknown[]
    expect(seen.length).toBe(4)
    expect(new Set(whole).size).toBe(12)
    for (const part of seen) expect(whole.slice(0, part.length)).toEqual(part)
  })

  it('differs from task to task', async () => {
    const chance = workflow('chance', { run: async (_: null, task) => [task.random(), task.uuid()] })
    await using s = await stage({ workflows: [chance] })
    const [a, b] = [await (await s.submit(chance, null)).result(), await (await s.submit(chance, null)).result()]
    expect(a[0]).not.toBe(b[0])
    expect(a[1]).not.toBe(b[1])
  })
})

describe('a workflow', () => {
  it('shows its progress', async () => {
    const shows = workflow('shows', {
      async run(_: null, task) {
        task.progress({ done: 1 })
        await task.sleep('1d')
        task.progress({ done: 2 })
      },
    })
    await using s = await stage({ workflows: [shows] })
    const task = await s.submit(shows, null)
    await s.settle()
    expect((await task.status()).progress).toEqual({ done: 1 })
    await s.advance('1d')
    expect((await task.status()).progress).toEqual({ done: 2 })
    expect(await eventsOf(task, 'progressed')).toHaveLength(2)
  })

  it('continues as new: same id, new input, fresh history, unread signals kept, new ids and keys', async () => {
    const keys: string[] = []
    const uuids: string[] = []
    const endless = workflow('endless', {
      async run(n: number, task) {
        await task.run('key', (step) => void keys.push(step.idempotencyKey))
        uuids.push(task.uuid())
        await task.sleep('1h')
        if (n < 3) return task.continueAsNew(n + 1)
        return [n, await task.waitForSignal('early')]
      },
    })
    await using s = await stage({ workflows: [endless] })
    const task = await s.submit(endless, 1, { id: 'e' })
    await task.signal('early', 'bird')
    await s.advance('3h')
    expect(await task.result()).toEqual([3, 'bird'])
    expect(new Set(keys).size).toBe(3)
    expect(new Set(uuids).size).toBe(3)
    expect(await s.store.replay('e').then((records) => records.length)).toBeLessThan((await task.history()).length)
  })

  it('that changed under a running task takes the old way there and the new way in new tasks', async () => {
    const log: string[] = []
    let patched = false
    const changing = workflow('changing', {
      async run(_: null, task) {
        await task.run('first', () => void log.push('first'))
        if (patched && task.patched('better')) await task.run('better', () => void log.push('better'))
        else await task.run('old', () => void log.push('old'))
        await task.sleep('1d')
        await task.run('last', () => void log.push('last'))
      },
    })
    await using s = await stage({ workflows: [changing] })
    const old = await s.submit(changing, null)
    await s.settle()
    patched = true
    await s.advance('1d')
    await old.result()
    expect(log.splice(0)).toEqual(['first', 'old', 'last'])
    const fresh = await s.submit(changing, null)
    await s.advance('1d')
    await fresh.result()
    expect(log).toEqual(['first', 'better', 'last'])
    expect(await eventsOf(fresh, 'patched')).toHaveLength(1)
  })

  it('that changed in a loop takes the new way from the next round on if each round has an id of its own', async () => {
    const log: string[] = []
    let changed = false
    const loop = (name: string, idOf: (round: number) => string) =>
      workflow(name, {
        async run(_: null, task) {
          for (let round = 1; round <= 3; round++) {
            if (changed && task.patched(idOf(round))) await task.run('new', () => void log.push(`${name}-new-${round}`))
            else await task.run('old', () => void log.push(`${name}-old-${round}`))
            await task.sleep('1d')
          }
        },
      })
    const same = loop('same', () => 'better')
    const each = loop('each', (round) => `better-${round}`)
    await using s = await stage({ workflows: [same, each] })
    const tasks = [await s.submit(same, null), await s.submit(each, null)]
    await s.settle()
    changed = true
    await s.advance('3d')
    for (const task of tasks) await task.result()
    expect(log.filter((it) => it.startsWith('same'))).toEqual(['same-old-1', 'same-old-2', 'same-old-3'])
    expect(log.filter((it) => it.startsWith('each'))).toEqual(['each-old-1', 'each-new-2', 'each-new-3'])
  })

  it('that awaits something foreign and then uses its context pauses with WORKFLOW_MISUSE', async () => {
    const foreign = workflow('foreign', {
      async run(_: null, task) {
        await new Promise((resolve) => setImmediate(resolve))
        return task.run(double, 1)
      },
    })
    await using s = await stage({ workflows: [foreign], agents })
    const task = await s.submit(foreign, null)
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { error: { code: 'WORKFLOW_MISUSE' } } })
    expect(s.alerts).toHaveLength(1)
  })

  it('is given what its input schema makes of the input, and its output is checked', async () => {
    const schema = z.object({ n: z.coerce.number(), unit: z.string().default('kg') })
    const typed = workflow('typed', {
      input: schema,
      output: z.string().max(4),
      rescue: 'fail',
      run: ({ n, unit }) => `${n}${unit}`,
    })
    await using s = await stage({ workflows: [typed] })
    expect(await (await s.submit(typed, { n: '7' })).result()).toBe('7kg')
    const long = await s.submit(typed, { n: '7777' })
    expect(await codeOf(long.result())).toBe('TASK_FAILED')
    expect((await long.status()).error?.code).toBe('INVALID_OUTPUT')
  })

  it('still ends when it leaves a step unawaited: the step is awaited or given up, never left running', async () => {
    const careless = workflow('careless', {
      async run(_: null, task) {
        void task.run(double, 1)
        return 'done'
      },
    })
    await using s = await stage({ workflows: [careless], agents })
    const task = await s.submit(careless, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect((await events(task)).at(-1)?.type).toBe('stopped')
  })
})
