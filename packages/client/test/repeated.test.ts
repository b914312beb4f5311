import { createServer } from '@triarch/server'
import { agent, type TaskHandle, Triarch, workflow } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../src/index.ts'

const bank = agent('bank')
let token = ''
let given = 0
let charged = 0
const callback = bank.action('callback', {
  async run(_: null, step, event): Promise<unknown> {
    if (event) return step.suspend({ progress: ++given })
    token = step.token
    return step.suspend()
  },
})
const charge = bank.action('charge', {
  retry: { attempts: 1 },
  rescue: 'pause',
  run() {
    charged++
    throw new Error('declined')
  },
})
const listening = workflow('listening', {
  async run(_: null, task): Promise<unknown> {
    const words: unknown[] = []
    for (let word: unknown; word !== 'end'; words.push(word)) word = await task.waitForSignal('word')
    return words
  },
})
const called = workflow('called', { run: (_: null, task) => task.run(callback, null) })
const paying = workflow('paying', { run: (_: null, task) => task.run(charge) })
const workflows = [listening, called, paying]
const triarch = new Triarch({ store: memory(), workflows, agents: [bank], notices: false, onError: () => undefined })
const server = createServer(triarch, { workflows, open: true })

/** Each request has its effect, and its first answer is lost: whoever asked hears of a broken connection. */
const client = connect('http://localhost', {
  retry: { first: 1 },
  fetch: (() => {
    const seen = new Set<string>()
    return async (url: string, init: RequestInit) => {
      const name = [init.method, url, init.body, new Headers(init.headers).get('idempotency-key')].join(' ')
      const response = await server.fetch(new Request(url, init))
      if (seen.has(name)) return response
      seen.add(name)
      await settled()
      throw new TypeError('fetch failed')
    }
  })(),
})
/** What was asked for has happened before it is asked for again. */
const settled = async () => {
  for (const { id } of (await triarch.tasks.list({ limit: 100 })).tasks)
    await expect
      .poll(async () => (await triarch.tasks.get(id).explain()).reasons.map(({ code }) => code))
      .not.toContain('moving')
}

beforeAll(() => triarch.start())
afterAll(async () => {
  await server.close()
  await triarch.stop({ grace: 0 })
})

const typesOf = async (task: TaskHandle<unknown, never>) =>
  (await triarch.tasks.get(task.id).history()).flatMap(({ events }) => events.map(({ type }) => type))
const times = (types: readonly string[], type: string) => types.filter((one) => one === type).length
const becomes = (task: TaskHandle<unknown, never>, state: object) =>
  expect.poll(() => triarch.tasks.get(task.id).status()).toMatchObject(state)

describe('where every first answer is lost, once it had its effect', () => {
  it('a submission is one task, with an id or without', async () => {
    const one = await client.submit(listening, null, { tags: { of: 'one' } })
    const two = await client.submit(listening, null, { id: 'two', tags: { of: 'one' } })
    expect((await triarch.tasks.list({ tags: { of: 'one' } })).tasks.map(({ id }) => id)).toEqual(['two', one.id])
    await two.cancel({ compensate: false })
    await one.cancel({ compensate: false, force: true })
  })

  it('a signal arrives once', async () => {
    const task = await client.submit(listening, null)
    for (const word of ['a', 'b', 'a', 'end']) await task.signal('word', word)
    expect(await task.result()).toEqual(['a', 'b', 'a', 'end'])
  })

  it('controls are done once, and none of them fails for what it did itself', async () => {
    const task = await client.submit(listening, null)
    await task.pause()
    await task.resume()
    await task.pause()
    await task.resume()
    await task.cancel({ compensate: false })
    await becomes(task, { status: 'stopped' })
    const types = await typesOf(task)
    expect([times(types, 'paused'), times(types, 'resumed'), times(types, 'stopped')]).toEqual([2, 2, 1])
    const ice = await client.submit(listening, null, { frozen: true })
    await ice.thaw()
    await ice.cancel({ compensate: false })
  })

  it('a retry tries once, a skip skips once, an undo undoes once', async () => {
    const task = await client.submit(paying, null)
    await becomes(task, { status: 'paused' })
    charged = 0
    await task.retry()
    await expect.poll(() => charged).toBe(1)
    await becomes(task, { status: 'paused' })
    await task.skip({ step: 1, output: 'cash' })
    await becomes(task, { status: 'stopped' })
    await task.compensate()
    await becomes(task, { outcome: 'compensated' })
    const types = await typesOf(task)
    expect([times(types, 'stepSkipped'), charged]).toEqual([1, 1])
  })

  it('a token gives its event once', async () => {
    const task = await client.submit(called, null)
    await expect.poll(() => token).not.toBe('')
    await client.tasks.resume(token, 'paid')
    await client.tasks.resume(token, 'paid')
    await expect.poll(() => given).toBe(2)
    await task.cancel({ compensate: false })
    expect(given).toBe(2)
  })

  it('schedules are as they were asked to be', async () => {
    const when = { workflow: listening, input: null, every: '1d', from: new Date('2026-01-01') } as const
    const daily = client.schedules.get('daily')
    await daily.register(when)
    await daily.pause()
    await daily.resume()
    const span = { from: new Date('2026-01-01T12:00:00Z'), to: new Date('2026-01-02T12:00:00Z') }
    const ids = await daily.backfill(span)
    expect(await daily.backfill(span)).toEqual(ids)
    await daily.run({ overlap: 'allow' })
    expect((await triarch.tasks.list({ tags: { schedule: 'daily' } })).tasks).toHaveLength(2)
    await daily.remove()
    await expect(daily.info()).rejects.toMatchObject({ code: 'UNKNOWN_SCHEDULE' })
  })
})
