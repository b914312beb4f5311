import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  agent,
  PermanentError,
  type TaskContext,
  type TaskInfo,
  Triarch,
  type Workflow,
  workflow,
} from '../../src/index.ts'
import { memory } from '../../src/testing/index.ts'
import { childOf, codeOf, eventsOf, never, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const echo = workflow('echo', { run: (value: unknown) => value as never })
const nap = workflow('nap', {
  async run(value: unknown, task) {
    await task.sleep('1d')
    return value as never
  },
})

describe('submit', () => {
  it('with an id that exists is the same task when workflow and input are the same', async () => {
    let runs = 0
    const once = workflow('once', { run: (n: number, task) => task.run('count', () => n + ++runs) })
    await using s = await stage({ workflows: [once, echo] })
    const tasks = await Promise.all([1, 2, 3].map(() => s.submit(once, 10, { id: 'order-1' })))
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([11, 11, 11])
    expect(await (await s.submit(once, 10, { id: 'order-1' })).result()).toBe(11)
    expect(runs).toBe(1)
    expect(await codeOf(s.submit(once, 11, { id: 'order-1' }))).toBe('TASK_EXISTS')
    expect(await codeOf(s.submit(echo, 10, { id: 'order-1' }))).toBe('TASK_EXISTS')
  })

  it('with an id that exists can be the same in any case, or refused in any case', async () => {
    await using s = await stage({ workflows: [echo] })
    await s.submit(echo, 1, { id: 'x' })
    expect(await (await s.submit(echo, 2, { id: 'x', ifExists: 'return' })).result()).toBe(1)
    expect(await codeOf(s.submit(echo, 1, { id: 'x', ifExists: 'reject' }))).toBe('TASK_EXISTS')
  })

  it('does not take the order of keys for another input', async () => {
    await using s = await stage({ workflows: [echo] })
    await s.submit(echo, { a: 1, b: [{ c: 1, d: 2 }] }, { id: 'x' })
    expect(await codeOf(s.submit(echo, { b: [{ d: 2, c: 1 }], a: 1 }, { id: 'x' }))).toBe('nothing')
  })

  it('with startAt does not start before', async () => {
    await using s = await stage({ workflows: [echo] })
    const task = await s.submit(echo, 1, { startAt: '3d' })
    expect((await task.status()).status).toBe('scheduled')
    await s.advance(3 * 86_400_000 - 1)
    expect((await task.status()).status).toBe('scheduled')
    await s.advance(1)
    expect((await task.status()).outcome).toBe('success')
    const date = await s.submit(echo, 2, { startAt: new Date('2026-01-10') })
    await s.advance('5d')
    expect((await date.status()).status).toBe('scheduled')
    await s.advance('1d')
    expect(await date.result()).toBe(2)
  })

  it('with startBefore ends with TASK_EXPIRED when nobody could start it in time', async () => {
    await using s = await stage({ workflows: [nap], sweep: '1m' })
    const late = await s.submit(echo, 1, { startBefore: '1h' })
    const timely = await s.submit(nap, 2, { startBefore: '1h' })
    await s.advance('59m')
    expect((await late.status()).status).toBe('pending')
    await s.advance('3m')
    expect(await codeOf(late.result())).toBe('TASK_EXPIRED')
    expect(await late.status()).toMatchObject({ outcome: 'error', error: { code: 'TASK_EXPIRED' } })
    await s.advance('2d')
    expect(await timely.result()).toBe(2)
  })

  it('with completeBy undoes what is not done by then', async () => {
    const log: string[] = []
    const own = agent('own')
    const slow = own.action('slow', { attemptWithin: '1d', run: () => never() })
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('a', () => void log.push('a'), { undo: () => void log.push('-a') })
        await task.run(slow, undefined as never)
      },
    })
    const asleep = workflow('asleep', { taskWithin: '2h', run: (_: null, task) => task.sleep('9d') })
    await using s = await stage({ workflows: [flow, asleep, echo], agents: [own] })
    const task = await s.submit(flow, null, { completeBy: '1h' })
    const sleeper = await s.submit(asleep, null)
    const quick = await s.submit(echo, 1, { completeBy: '1h' })
    await s.advance('59m')
    expect((await task.status()).status).toBe('running')
    await s.advance('2d')
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect((await task.status()).error?.code).toBe('TASK_DEADLINE')
    expect(log).toEqual(['a', '-a'])
    expect(await codeOf(sleeper.result())).toBe('TASK_FAILED')
    expect(await quick.result()).toBe(1)
  })

  it('with runWithin counts from when its code or its plan begins, not from its submission', async () => {
    const wait = { exclusive: { ifHeld: 'queue' as const }, runWithin: '1h' as const }
    const flow = workflow('flow', { ...wait, run: (_: null, task) => task.sleep('9d') })
    const own = agent('own')
    const stay = own.action('stay', { attemptWithin: '9d', run: () => never() })
    const planned = workflow('planned', { ...wait, plan: (_: null, plan) => void plan.step(stay, null) })
    await using s = await stage({ workflows: [flow, planned], agents: [own] })
    for (const it of [flow, planned]) {
      const first = await s.submit(it, null)
      const second = await s.submit(it, null)
      await s.advance('59m')
      expect((await first.status()).status).toBe('running')
      await s.advance('2m')
      expect((await first.status()).error?.code).toBe('TASK_DEADLINE')
      await s.advance('58m')
      expect((await second.status()).status).toBe('running')
      await s.advance('2m')
      expect((await second.status()).error?.code).toBe('TASK_DEADLINE')
      const entries = await second.history()
      const began = entries.find(({ events }) => events.some((event) => event.type === 'started'))
      expect(began?.events).toContainEqual({ type: 'started', completeBy: new Date(Number(began?.at) + 3_600_000) })
    }
  })

  it('with runWithin and completeBy must be done by the sooner of both', async () => {
    const flow = workflow('flow', { runWithin: '1h', run: (_: null, task) => task.sleep('9d') })
    await using s = await stage({ workflows: [flow] })
    const sooner = await s.submit(flow, null, { completeBy: '30m' })
    const later = await s.submit(flow, null, { completeBy: '2h' })
    await s.advance('31m')
    expect((await sooner.status()).error?.code).toBe('TASK_DEADLINE')
    expect((await later.status()).status).toBe('running')
    await s.advance('30m')
    expect((await later.status()).error?.code).toBe('TASK_DEADLINE')
  })

  it('with completeBy also ends a task that no node can run', async () => {
    await using s = await stage({ workflows: [], sweep: '1m' })
    const task = await s.submit(echo, 1, { completeBy: '1h' })
    await s.advance('2h')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
  })

  it('gives the queue of a busy agent an order: higher priority first, then the older', async () => {
    const order: string[] = []
    const own = agent('own', { concurrency: 1 })
    const gates: (() => void)[] = []
    const act = own.action('act', {
      run(name: string) {
        order.push(name)
        return new Promise<void>((resolve) => gates.push(resolve))
      },
    })
    const flow = workflow('flow', { run: (name: string, task) => task.run(act, name) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    await s.submit(flow, 'blocks')
    for (const [name, priority] of [
      ['low', -5],
      ['one', 0],
      ['high', 100],
      ['two', 0],
    ] as const) {
      await s.submit(flow, name, { priority })
    }
    await s.settle()
    for (let i = 0; i < 5; i++) {
      gates[i]?.()
      await s.settle()
    }
    expect(order).toEqual(['blocks', 'high', 'one', 'two', 'low'])
  })
})

describe('list', () => {
  it('finds tasks by status, outcome, workflow, version, parent, tags and time, a page at a time', async () => {
    const failing = workflow('failing', {
      rescue: 'fail',
      run: () => {
        throw new Error('no')
      },
    })
    const parent = workflow('parent', { run: (_: null, task) => task.call(echo, 1) })
    await using s = await stage({ workflows: [echo, nap, failing, parent] })
    const ids = async (query: Parameters<Triarch['tasks']['list']>[0]) =>
      (await s.engine.triarch.tasks.list(query)).tasks.map(({ id }) => id)
    await s.submit(echo, 1, { id: 'a', tags: { customer: 'ann', kind: 'x' } })
    await s.submit(nap, 1, { id: 'b', tags: { customer: 'ann' } })
    await s.submit(failing, null as never, { id: 'c' })
    await s.settle()
    const later = s.engine.now()
    await s.advance('1h')
    await s.submit(parent, null, { id: 'd', tags: { customer: 'bob' } })
    await s.settle()
    const child = await childOf(s, 'd', 1)
    expect(await ids({ order: 'oldest' })).toEqual(['a', 'b', 'c', 'd', child])
    expect(await ids({})).toEqual([child, 'd', 'c', 'b', 'a'])
    expect(await ids({ status: 'running' })).toEqual(['b'])
    expect(await ids({ status: ['running', 'stopped'], order: 'oldest' })).toEqual(['a', 'b', 'c', 'd', child])
    expect(await ids({ outcome: 'error' })).toEqual(['c'])
    expect(await ids({ outcome: ['error', 'pending'] })).toEqual(['c', 'b'])
    expect(await ids({ workflow: 'echo', version: '1' })).toEqual([child, 'a'])
    expect(await ids({ version: '2' })).toEqual([])
    expect(await ids({ parent: 'd' })).toEqual([child])
    expect(await ids({ tags: { customer: 'ann' } })).toEqual(['b', 'a'])
    expect(await ids({ tags: { customer: 'ann', kind: 'x' } })).toEqual(['a'])
    expect(await ids({ submittedAfter: later })).toEqual([child, 'd'])
    expect(await ids({ submittedBefore: new Date(later.getTime() + 1), workflow: 'nap' })).toEqual(['b'])
    const seen: TaskInfo[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await s.engine.triarch.tasks.list({ limit: 2, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.tasks)
      if (page.next === undefined) break
      cursor = page.next
    }
    expect(seen.map(({ id }) => id)).toEqual([child, 'd', 'c', 'b', 'a'])
    expect(seen.at(-1)).toMatchObject({ tags: { customer: 'ann', kind: 'x' }, workflow: 'echo' })
  })
})

describe('pause', () => {
  it('lets what runs finish and starts nothing new, until resume', async () => {
    const log: string[] = []
    let finish: () => void = () => undefined
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('a', () => new Promise<void>((resolve) => (finish = resolve)))
        await task.run('b', () => void log.push('b'))
      },
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    await task.pause({ reason: 'maintenance' })
    await s.settle()
    finish()
    await s.advance('1h')
    const pause = { cause: 'operator', reason: 'maintenance' }
    expect(await task.status()).toMatchObject({ status: 'paused', pause })
    expect(await eventsOf(task, 'paused')).toEqual([{ type: 'paused', reason: 'operator', note: 'maintenance' }])
    expect(log).toEqual([])
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
    await task.resume()
    await s.settle()
    expect((await task.status()).outcome).toBe('success')
    expect(log).toEqual(['b'])
  })

  it('and cancel take a reason that is a string of no more than 10,000 characters', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 1)
    await s.settle()
    for (const act of ['pause', 'cancel'] as const) {
      expect(await codeOf(task[act]({ reason: 7 as never }))).toBe('INVALID_OPTION')
      expect(await codeOf(task[act]({ reason: 'x'.repeat(10_001) }))).toBe('INVALID_OPTION')
    }
    expect((await task.status()).pause).toBeUndefined()
  })

  it('holds a sleeping task: its timer ends late, not never', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 1)
    await s.settle()
    await task.pause()
    await s.advance('3d')
    expect((await task.status()).status).toBe('paused')
    await task.resume()
    expect(await task.result()).toBe(1)
  })

  it('keeps signals that come meanwhile', async () => {
    const flow = workflow('flow', {
      run: async (_: null, task) => [await task.waitForSignal('e'), await task.waitForSignal('e')],
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await task.signal('e', 1)
    await task.pause()
    await task.signal('e', 2)
    await s.settle()
    expect((await task.status()).status).toBe('paused')
    await task.resume()
    expect(await task.result()).toEqual([1, 2])
  })

  it('takes a resume at once: both are taken up in their order, whatever the task does then', async () => {
    const undone: string[] = []
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('a', () => 1, { undo: () => void undone.push('a') })
        await task.waitForSignal('go')
      },
    })
    await using s = await stage({ workflows: [flow, nap] })
    const [waits, later, sleeps] = [
      await s.submit(flow, null),
      await s.submit(flow, null, { startAt: '1h' }),
      await s.submit(nap, 1),
    ]
    await s.settle()
    for (const task of [waits, later, sleeps]) {
      await task.pause()
      await task.resume()
      await s.settle()
      expect((await task.status()).pause).toBeUndefined()
      expect(await eventsOf(task, 'paused')).toHaveLength(1)
      expect(await eventsOf(task, 'resumed')).toHaveLength(1)
      expect(await codeOf(task.resume())).toBe('TASK_NOT_PAUSED')
    }
    await waits.cancel()
    await waits.pause()
    await waits.resume()
    await s.settle()
    expect((await waits.status()).outcome).toBe('cancelled')
    expect(undone).toEqual(['a'])
  })
})

describe('retry of a stopped task', () => {
  function scene(rescue: 'fail' | 'compensate') {
    const log: string[] = []
    const keys: string[] = []
    const service = { works: false }
    const own = agent('own')
    const first = own.action('first', {
      run(_: null, step) {
        log.push('first')
        keys.push(step.idempotencyKey)
      },
      undo: () => void log.push('-first'),
    })
    const second = own.action('second', {
      retry: { attempts: 1 },
      run(input: { fine?: boolean }) {
        log.push('second')
        if (!service.works && !input.fine) throw new PermanentError('down')
        return 'ok'
      },
    })
    const flow = workflow('flow', {
      rescue,
      async run(input: { fine?: boolean }, task) {
        await task.run(first, null)
        return task.run(second, input)
      },
    })
    return { log, keys, service, flow, parts: { workflows: [flow], agents: [own] } }
  }

  it('goes on from the step that failed; what succeeded stays', async () => {
    const { log, service, flow, parts } = scene('fail')
    await using s = await stage(parts)
    const task = await s.submit(flow, {})
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    await task.retry()
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    service.works = true
    await task.retry()
    expect(await task.result()).toBe('ok')
    expect(log).toEqual(['first', 'second', 'second', 'second'])
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'success' })
  })

  it('goes on from the step that failed with an edited input', async () => {
    const { log, flow, parts } = scene('fail')
    await using s = await stage(parts)
    const task = await s.submit(flow, {})
    await codeOf(task.result())
    await task.retry({ step: 2, input: { fine: true } })
    expect(await task.result()).toBe('ok')
    expect(log).toEqual(['first', 'second', 'second'])
  })

  it('goes on from an earlier step: all that came after it is made anew', async () => {
    const { log, service, flow, parts } = scene('fail')
    await using s = await stage(parts)
    const task = await s.submit(flow, {})
    await codeOf(task.result())
    service.works = true
    await task.retry({ step: 1 })
    expect(await task.result()).toBe('ok')
    expect(log).toEqual(['first', 'second', 'first', 'second'])
  })

  it('that was undone starts over, under new idempotency keys, with another input if one is given', async () => {
    const { log, keys, flow, parts } = scene('compensate')
    await using s = await stage(parts)
    const task = await s.submit(flow, {})
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    await task.retry({ input: { fine: true } })
    expect(await task.result()).toBe('ok')
    expect(log).toEqual(['first', 'second', '-first', 'first', 'second'])
    expect(new Set(keys).size).toBe(2)
  })

  it('skips the step that failed instead, if asked to', async () => {
    const { log, flow, parts } = scene('fail')
    await using s = await stage(parts)
    const task = await s.submit(flow, {})
    await codeOf(task.result())
    await task.skip({ step: 2, output: 'by hand' })
    await s.settle()
    expect(await task.result()).toBe('by hand')
    expect((await task.status()).outcome).toBe('warning')
    expect(log).toEqual(['first', 'second'])
  })

  it('that was cancelled goes on where it was', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 7)
    await s.settle()
    await task.cancel()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    await task.retry()
    await s.advance('1d')
    expect(await task.result()).toBe(7)
  })

  it('still counts after its node died: the rewind is in the history', async () => {
    const { flow, service, parts, log } = scene('fail')
    using file = scratch()
    const first = await stage({ ...parts, store: file.store })
    const task = await first.submit(flow, {}, { id: 't' })
    await codeOf(task.result())
    await task.retry({ step: 2 })
    await first.settle()
    await first.leave()
    service.works = true
    await using second = await stage({ ...parts, store: file.store, seed: 2 })
    await second.engine.tasks.get('t').retry()
    await second.settle()
    expect(await second.engine.tasks.get('t').result()).toBe('ok')
    expect(log).toEqual(['first', 'second', 'second', 'second'])
  })
})

describe('watch', () => {
  it('tells the state now and after each change, until the task stops', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 1)
    await s.settle()
    const seen: string[] = []
    const watching = (async () => {
      for await (const info of task.watch()) seen.push(`${info.status} ${info.outcome}`)
    })()
    await s.settle()
    await task.pause()
    await s.settle()
    await task.resume()
    await s.advance('1d')
    await watching
    expect(seen).toEqual(['running pending', 'paused pending', 'running pending', 'stopped success'])
  })

  it('ends when its signal does', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 1)
    const stop = new AbortController()
    const watching = (async () => {
      for await (const _ of task.watch({ signal: stop.signal })) stop.abort(new Error('enough'))
    })()
    await expect(watching).rejects.toThrow('enough')
  })
})

describe('result', () => {
  it('waits only as long as it is told; the task goes on', async () => {
    await using s = await stage({ workflows: [nap] })
    const task = await s.submit(nap, 1)
    const waiting = codeOf(task.result({ timeout: '1h' }))
    await s.advance('1h')
    expect(await waiting).toBe('WAIT_TIMEOUT')
    await s.advance('1d')
    expect(await task.result()).toBe(1)
  })
})

describe('what is no good is refused with its code', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const strict = workflow('strict', { input: z.object({ n: z.number() }), run: ({ n }) => n })
  const submits: [string, Workflow<never, never>, unknown, object, string][] = [
    ['a cyclic input', echo as never, cyclic, {}, 'UNSERIALISABLE'],
    ['a BigInt', echo as never, { n: 1n }, {}, 'UNSERIALISABLE'],
    ['a function', echo as never, { f: () => 1 }, {}, 'UNSERIALISABLE'],
    ['a huge input', echo as never, 'x'.repeat(300_000), {}, 'PAYLOAD_TOO_LARGE'],
    ['an input the schema refuses', strict as never, { n: 'one' }, {}, 'INVALID_INPUT'],
    ['an unknown option', echo as never, 1, { startat: '1d' }, 'UNKNOWN_OPTION'],
    ['an id with control characters', echo as never, 1, { id: 'a\nb' }, 'INVALID_NAME'],
    [
      'an id with half a character, which a store would take for another',
      echo as never,
      1,
      { id: 'a\ud800' },
      'INVALID_NAME',
    ],
    ['an empty id', echo as never, 1, { id: '' }, 'INVALID_NAME'],
    ['a long id', echo as never, 1, { id: 'x'.repeat(201) }, 'INVALID_NAME'],
    ['a priority out of range', echo as never, 1, { priority: 1e9 }, 'INVALID_OPTION'],
    ['a tag that is no text', echo as never, 1, { tags: { a: 1 } }, 'INVALID_OPTION'],
    ['an ifExists that is none', echo as never, 1, { ifExists: 'maybe' }, 'INVALID_OPTION'],
    ['a tag that would be a prototype', echo as never, 1, { tags: { ['__proto__']: 'x' } }, 'INVALID_OPTION'],
    ['metadata that would be a prototype', echo as never, 1, { metadata: { ['__proto__']: 'x' } }, 'INVALID_OPTION'],
    ['a duration that is none', echo as never, 1, { startAt: 'soon' }, 'INVALID_DURATION'],
    ['a date that is none', echo as never, 1, { completeBy: new Date('x') }, 'INVALID_OPTION'],
    ['a task that would come after itself', echo as never, 1, { id: 'self', after: ['a', 'self'] }, 'INVALID_OPTION'],
    ['a transaction that is no connection', echo as never, 1, { transaction: {} }, 'STORE_TRANSACTION_INVALID'],
  ]
  it.each(submits)('at submit: %s', async (_, flow, input, options, code) => {
    await using s = await stage({ workflows: [echo, strict] })
    expect(await codeOf(s.submit(flow, input as never, options))).toBe(code)
    expect((await s.engine.triarch.tasks.list()).tasks).toEqual([])
  })

  it('in a list', async () => {
    await using s = await stage()
    const { triarch } = s.engine
    expect(await codeOf(triarch.tasks.list({ limit: 0 }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.tasks.list({ cursor: 'x' }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.tasks.list({ stats: 'x' } as never))).toBe('UNKNOWN_OPTION')
    expect(await codeOf(triarch.tasks.list({ status: 'x' as never }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.tasks.list({ order: 'x' as never }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.tasks.list({ tags: 'x' as never }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.tasks.list({ submittedAfter: new Date('x') }))).toBe('INVALID_OPTION')
  })

  it('of a task that does not exist', async () => {
    await using s = await stage()
    const task = s.engine.tasks.get('nobody')
    const calls = [task.status(), task.result(), task.history(), task.cancel(), task.signal('e'), task.retry()]
    for (const call of calls) expect(await codeOf(call)).toBe('UNKNOWN_TASK')
    for await (const _ of [1]) expect(await codeOf(task.watch().next())).toBe('UNKNOWN_TASK')
  })

  it('of a task that is in another state', async () => {
    await using s = await stage({ workflows: [echo, nap] })
    const done = await s.submit(echo, 1)
    await done.result()
    for (const call of [done.signal('e'), done.cancel(), done.pause()]) expect(await codeOf(call)).toBe('TASK_STOPPED')
    expect(await codeOf(done.resume())).toBe('TASK_NOT_PAUSED')
    expect(await codeOf(done.retry())).toBe('ILLEGAL_MOVE')
    expect(await codeOf(done.skip({ step: 1 }))).toBe('ILLEGAL_MOVE')
    const asleep = await s.submit(nap, 1)
    expect(await codeOf(asleep.resume())).toBe('TASK_NOT_PAUSED')
    expect(await codeOf(asleep.compensate())).toBe('ILLEGAL_MOVE')
    expect(await codeOf(asleep.signal('bad\nname'))).toBe('INVALID_NAME')
    expect(await codeOf(asleep.signal('e', 1n))).toBe('UNSERIALISABLE')
    expect(await codeOf(asleep.signal('e', 'x'.repeat(300_000)))).toBe('PAYLOAD_TOO_LARGE')
    expect(await codeOf(asleep.cancel({ forced: true } as never))).toBe('UNKNOWN_OPTION')
  })

  it('by a Triarch whose definitions share a name, or whose options make no sense', () => {
    const code = (make: () => unknown) => {
      try {
        make()
        return 'nothing'
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    const store = memory()
    const other = workflow('echo', { version: '2', run: () => 1 })
    expect(code(() => new Triarch({ store, workflows: [echo, echo] }))).toBe('DUPLICATE_DEFINITION')
    expect(code(() => new Triarch({ store, workflows: [echo, other] }))).toBe('nothing')
    expect(code(() => new Triarch({ store, agents: [agent('a'), agent('a')] }))).toBe('DUPLICATE_DEFINITION')
    expect(code(() => new Triarch({ store, leese: '1s' } as never))).toBe('UNKNOWN_OPTION')
    expect(code(() => new Triarch({ store: 'file.db' } as never))).toBe('INVALID_OPTION')
    expect(code(() => new Triarch({ store, roles: ['boss'] } as never))).toBe('INVALID_OPTION')
    expect(code(() => new Triarch({ store, lease: 0 }))).toBe('INVALID_DURATION')
    expect(code(() => new Triarch({ store, limits: { payload: 0 } }))).toBe('INVALID_OPTION')
    expect(code(() => new Triarch({ store, limits: { paylod: 1 } } as never))).toBe('UNKNOWN_OPTION')
  })

  it('in a workflow: options, names and inputs of what it asks for', async () => {
    const asks: [string, (task: TaskContext) => unknown][] = [
      ['UNKNOWN_OPTION', (task) => task.run('a', () => 1, { retries: 1 } as never)],
      ['INVALID_NAME', (task) => task.run('a\nb', () => 1)],
      ['INVALID_OPTION', (task) => task.run('a', 1 as never)],
      ['INVALID_DURATION', (task) => task.sleep('soon' as never)],
      ['INVALID_NAME', (task) => task.waitForSignal('')],
      ['UNKNOWN_OPTION', (task) => task.waitForSignal('e', { timout: '1s' } as never)],
      ['INVALID_INPUT', (task) => task.call(strict, { n: 'x' } as never)],
      ['UNSERIALISABLE', (task) => task.call(echo, 1n)],
      ['INVALID_NAME', (task) => task.call(echo, 1, { id: '' })],
      ['INVALID_OPTION', (task) => task.call(echo, 1, { onCancel: 'kill' as never })],
      ['INVALID_OPTION', (task) => task.call(echo, 1, { priority: 1e9 })],
      ['UNSERIALISABLE', (task) => task.progress(cyclic)],
      ['INVALID_OPTION', (task) => task.undo(1 as never)],
      ['INVALID_NAME', (task) => task.patched('')],
    ]
    const asking = workflow('asking', {
      async run(n: number, task) {
        try {
          await asks[n]?.[1](task)
          return 'nothing'
        } catch (error) {
          return (error as { code?: string }).code ?? String(error)
        }
      },
    })
    await using s = await stage({ workflows: [asking, echo, strict] })
    const codes: unknown[] = []
    for (const index of asks.keys()) codes.push(await (await s.submit(asking, index)).result())
    expect(codes).toEqual(asks.map(([code]) => code))
  })
})

describe('a Triarch', () => {
  it('that stopped takes no more tasks', async () => {
    const s = await stage({ workflows: [echo] })
    await s.kill()
    expect(await codeOf(s.submit(echo, 1))).toBe('NODE_STOPPED')
  })

  it('that was not started can submit and watch', async () => {
    await using client = new Triarch({ store: memory() })
    const task = await client.submit(echo, 1, { id: 'x' })
    expect((await task.status()).status).toBe('pending')
    await using other = new Triarch({ store: memory() })
    expect(await codeOf(other.tasks.get('x').status())).toBe('UNKNOWN_TASK')
  })
})
