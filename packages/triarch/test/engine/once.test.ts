import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { testEngine } from '../../src/testing/index.ts'

const listening = workflow('listening', {
  async run(count: number, task): Promise<unknown> {
    const heard: unknown[] = []
    while (heard.length < count) heard.push(await task.waitForSignal('word'))
    return heard
  },
})

let runs = 0
let fails = true
let token = ''
const shop = agent('shop')
const sell = shop.action('sell', {
  retry: { attempts: 1 },
  rescue: 'fail',
  run() {
    runs++
    if (fails) throw new Error('sold out')
    return runs
  },
})
const told = shop.action('told', {
  run: (_: null, step, event): unknown => {
    if (event) return event.payload
    token = step.token
    return step.suspend()
  },
})
const selling = workflow('selling', { run: (_: null, task) => task.run(sell) })
const suspended = workflow('suspended', {
  async run(_: null, task): Promise<unknown> {
    return [await task.run(told, null), await task.waitForSignal('end')]
  },
})
const again = workflow('again', {
  async run(round: number, task): Promise<unknown> {
    const word = await task.waitForSignal('word')
    return round === 1 ? task.continueAsNew(2) : word
  },
})
const open = () => testEngine({ workflows: [listening, selling, suspended, again], agents: [shop] })

describe('what is asked under a key', () => {
  it('is a signal that arrives once, also where a run follows another', async () => {
    await using engine = await open()
    const task = await engine.submit(listening, 2)
    for (const key of ['a', 'a', 'b', 'a']) await task.once(key).signal('word', key)
    await engine.settle()
    expect(await task.result()).toEqual(['a', 'b'])
    const next = await engine.submit(again, 1)
    await next.once('a').signal('word', 1)
    await engine.settle()
    await next.once('a').signal('word', 1)
    await next.once('b').signal('word', 2)
    await engine.settle()
    expect(await next.result()).toBe(2)
  })

  it('is done once, although it would have an effect again', async () => {
    await using engine = await open()
    const task = await engine.submit(listening, 1)
    await task.once('k').pause()
    await engine.settle()
    await task.once('k').resume()
    await engine.settle()
    await task.once('k').pause()
    await engine.settle()
    expect(await task.status()).toMatchObject({ status: 'running' })
    await task.once('l').pause()
    await engine.settle()
    expect(await task.status()).toMatchObject({ status: 'paused' })
  })

  it('is no error where the task would not take it any more', async () => {
    await using engine = await open()
    const task = await engine.submit(listening, 1)
    await task.once('k').cancel({ compensate: false })
    await engine.settle()
    await task.once('k').cancel({ compensate: false })
    await expect(task.cancel()).rejects.toMatchObject({ code: 'TASK_STOPPED' })
    await expect(task.once('l').cancel()).rejects.toMatchObject({ code: 'TASK_STOPPED' })
    const types = (await task.history()).flatMap(({ events }) => events.map(({ type }) => type))
    expect(types.filter((type) => type === 'requestReceived')).toHaveLength(1)
  })

  it('is a retry that tries once, and is known after it', async () => {
    runs = 0
    fails = true
    await using engine = await open()
    const task = await engine.submit(selling, null)
    await engine.settle()
    await task.once('k').retry()
    await engine.settle()
    await task.once('k').retry()
    await engine.settle()
    expect(runs).toBe(2)
    fails = false
    await task.once('l').retry({ step: 1 })
    await engine.settle()
    expect(await task.result()).toBe(3)
    await task.once('l').retry({ step: 1 })
    await task.once('k').retry()
    await engine.settle()
    expect(runs).toBe(3)
  })

  it('is an event for a suspended step, given once', async () => {
    await using engine = await open()
    const task = await engine.submit(suspended, null)
    await engine.settle()
    const { triarch } = engine
    await triarch.tasks.resume(token, 'paid', { once: 'hook-1' })
    await triarch.tasks.resume(token, 'paid', { once: 'hook-1' })
    await engine.settle()
    await triarch.tasks.resume(token, 'paid', { once: 'hook-1' })
    await expect(triarch.tasks.resume(token, 'paid', { once: 'hook-2' })).rejects.toMatchObject({ code: 'TOKEN_SPENT' })
    await task.signal('end', 'over')
    await engine.settle()
    expect(await task.result()).toEqual(['paid', 'over'])
    await triarch.tasks.resume(token, 'paid', { once: 'hook-1' })
  })

  it('is remembered a hundred times', async () => {
    await using engine = await open()
    const task = await engine.submit(listening, 103)
    for (let n = 0; n <= 100; n++) await task.once(`k-${n}`).signal('word', n)
    await engine.settle()
    await task.once('k-1').signal('word', 1)
    await expect(task.once('k-1').signal('word', 'other')).rejects.toMatchObject({ code: 'REQUEST_DIFFERS' })
    await task.once('k-0').signal('word', 'forgotten')
    await task.signal('word', 'last')
    await engine.settle()
    expect((await task.result()) as unknown[]).toHaveLength(103)
    expect(((await task.result()) as unknown[]).slice(-2)).toEqual(['forgotten', 'last'])
  })

  it('has a key that is well formed', async () => {
    await using engine = await open()
    expect(() => engine.tasks.get('t').once('')).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
  })
})
