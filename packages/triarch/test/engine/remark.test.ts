import { describe, expect, it } from 'vitest'
import {
  agent,
  type ControlOptions,
  type HistoryEvent,
  PermanentError,
  type TaskHandle,
  workflow,
} from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'

const shop = agent('shop')
const sell = shop.action('sell', { run: (item: string) => item, undo: () => undefined })
const broken = shop.action('broken', {
  rescue: 'pause',
  run(): string {
    throw new PermanentError('broken')
  },
})
const order = workflow('order', {
  async run(item: string, task) {
    await task.run(sell, item)
    return task.waitForSignal('go')
  },
})
const repair = workflow('repair', { run: (_: string, task) => task.run(broken, null) })

const why = { reason: 'the bank is back', actor: 'ada' }

async function begun(s: Stage, of: typeof order | typeof repair): Promise<TaskHandle> {
  const task = await s.submit(of, 'pen')
  await s.settle()
  return task
}

/** The events of a type, as they are shown. */
async function shown(task: TaskHandle, type: HistoryEvent['type']): Promise<HistoryEvent[]> {
  return (await task.history()).flatMap(({ events }) => events).filter((event) => event.type === type)
}

describe('who asked for it, and why,', () => {
  it.each<[string, typeof order | typeof repair, HistoryEvent['type'], (task: TaskHandle) => Promise<void>]>([
    ['pause', order, 'paused', (task) => task.pause(why)],
    ['cancel', order, 'closing', (task) => task.cancel(why)],
    ['cancel by force', order, 'closing', (task) => task.cancel({ force: true, ...why })],
    ['retry', repair, 'stepRetried', (task) => task.retry({ step: 1, ...why })],
    ['skip', repair, 'stepSkipped', (task) => task.skip({ step: 1, output: 'by hand', ...why })],
    ['resume', repair, 'resumed', (task) => task.resume(why)],
    [
      'signal',
      order,
      'signalReceived',
      (task) => (task as TaskHandle<unknown, never>).signal('other' as never, ...([1, why] as never)),
    ],
  ])('stands in the history with a %s', async (_, of, type, ask) => {
    await using s = await stage({ workflows: [order, repair], agents: [shop] })
    const task = await begun(s, of)
    await ask(task)
    await s.settle()
    expect(await shown(task, type)).toMatchObject([why])
  })

  it('stands there with a compensation, with what sets a stopped task going again, and with a thaw', async () => {
    await using s = await stage({ workflows: [order, repair], agents: [shop] })
    const task = await begun(s, order)
    await task.signal('go')
    expect(await task.result()).toBeNull()
    await task.compensate(why)
    await s.settle()
    expect(await shown(task, 'closing')).toMatchObject([{ cause: 'operator', ...why }])
    await task.retry(why)
    await s.settle()
    expect(await shown(task, 'continuedAsNew')).toMatchObject([why])
    await task.cancel({ force: true })
    await s.settle()
    await task.retry({ actor: 'bob' })
    await s.settle()
    expect(await shown(task, 'reset')).toMatchObject([{ actor: 'bob' }])
    const ice = await s.submit(order, 'ice', { frozen: true })
    await ice.thaw(why)
    await s.settle()
    expect(await shown(ice, 'thawed')).toMatchObject([why])
  })

  it('stands there also where it is so already, and where nothing comes of it', async () => {
    await using s = await stage({ workflows: [order], agents: [shop] })
    const task = await begun(s, order)
    for (const options of [why, { actor: 'bob' }, {}]) {
      await task.pause(options)
      await s.settle()
    }
    const ignored = await shown(task, 'messageIgnored')
    expect(ignored).toEqual([
      { type: 'messageIgnored', message: 'pause', cause: 'the task is paused already', actor: 'bob' },
    ])
    await Promise.all([task.resume(), task.resume(why)])
    await s.advance('2h')
    expect((await shown(task, 'messageIgnored')).at(-1)).toMatchObject({ cause: 'the task is not paused', ...why })
  })

  it('is told by status() and explain() of a pause, until it is over', async () => {
    await using s = await stage({ workflows: [order], agents: [shop] })
    const task = await begun(s, order)
    await task.pause(why)
    await s.settle()
    expect((await task.status()).pause).toEqual({ cause: 'operator', ...why })
    const { reasons, text } = await task.explain()
    expect(reasons).toMatchObject([{ code: 'paused', cause: 'operator', ...why }])
    expect(text).toMatch(/is paused by ada since .* \("the bank is back"\)/)
    await task.resume()
    await s.settle()
    await task.pause()
    await s.settle()
    expect((await task.status()).pause).toEqual({ cause: 'operator' })
  })

  it('of an operation is kept with each of its tasks', async () => {
    await using s = await stage({ workflows: [order], agents: [shop], operations: true })
    const tasks = [await begun(s, order), await begun(s, order)]
    const operation = { filter: 'workflow:order', action: 'resume' as const, confirm: 10, ...why }
    await tasks[0]?.pause()
    await s.settle()
    await (await s.engine.triarch.tasks.operate({ ...operation, filter: 'status:paused' })).result()
    await s.settle()
    expect(await shown(tasks[0] as TaskHandle, 'resumed')).toMatchObject([why])
    await (await s.engine.triarch.tasks.operate({ ...operation, action: 'signal', options: { name: 'go' } })).result()
    for (const task of tasks) expect(await shown(task, 'signalReceived')).toMatchObject([why])
  })

  it('is bounded, and nothing else is taken in its place', async () => {
    await using s = await stage({ workflows: [order], agents: [shop] })
    const task = await begun(s, order)
    const asks: ((options: ControlOptions) => Promise<void>)[] = [
      (options) => task.cancel(options),
      (options) => task.pause(options),
      (options) => task.resume(options),
      (options) => task.retry(options),
      (options) => task.skip({ step: 1, ...options }),
      (options) => task.compensate(options),
      (options) => task.thaw(options),
      (options) => task.signal('go', null, options),
    ]
    for (const ask of asks) {
      expect(await codeOf(ask({ reason: 'x'.repeat(10_001) }))).toBe('INVALID_OPTION')
      expect(await codeOf(ask({ actor: 'x'.repeat(201) }))).toBe('INVALID_OPTION')
      expect(await codeOf(ask({ actor: 7 as never }))).toBe('INVALID_OPTION')
      await expect(ask({ actr: 'ada' } as never)).rejects.toThrow('did you mean "actor"?')
    }
    expect(await shown(task, 'messageIgnored')).toEqual([])
  })

  it('hides what the task marks as secret', async () => {
    const secret = workflow('secret', { secrets: ['pin'], run: (_: { pin: string }, task) => task.waitForSignal('go') })
    await using s = await stage({ workflows: [secret] })
    const task = await s.submit(secret, { pin: 'pin-4711' })
    await s.settle()
    await task.pause({ reason: 'wrong pin-4711' })
    await s.settle()
    expect(JSON.stringify([await task.history(), await task.export()])).not.toContain('pin-4711')
  })
})
