import Keyv from 'keyv'
import { expect, it } from 'vitest'
import { agent, type KeyValueCache, type TelemetryEvents, Triarch, workflow } from '../../src/index.ts'
import { encrypt } from '../../src/store/codec/encrypt.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, never, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const secret = 'a rate of 1.1'

it('a Keyv holds what all nodes share, and nothing of it in the clear where there is a codec', async () => {
  using file = scratch()
  const kept = new Map<string, unknown>()
  const calls: string[] = []
  const bank = agent('bank')
  const rate = bank.action('rate', {
    cache: { ttl: '1h' },
    run: (currency: string) => {
      calls.push(currency)
      return secret
    },
  })
  const quote = workflow('quote', { run: (currency: string, task) => task.run(rate, currency) })
  const node = () =>
    new Triarch({
      ...{ store: file.store, workflows: [quote], agents: [bank], notices: false, poll: 20 },
      // However busy the machine is, the cache is not taken for one that is down.
      cache: { shared: new Keyv({ store: kept }), deadline: '1m' },
      codec: encrypt({ keys: [{ id: 'a', key: Buffer.alloc(32, 7) }] }),
    })
  for (let n = 0; n < 2; n++) {
    await using triarch = node()
    await triarch.start()
    const task = await triarch.submit(quote, 'EUR')
    expect(await task.result()).toBe(secret)
    const cached = (await task.steps())[0]?.cached
    expect(cached).toEqual(n === 0 ? undefined : { at: expect.any(Date), from: 'shared' })
  }
  expect(calls).toEqual(['EUR'])
  const text = JSON.stringify([...kept])
  for (const shown of [secret, 'EUR', 'bank']) expect(text).not.toContain(shown)
  expect(kept.size).toBe(1)
})

const down = () => {
  throw new Error('down')
}
const nothing = () => undefined
const ill: Record<string, KeyValueCache> = {
  'throws at once': { get: down, set: down },
  'rejects what it is asked': { get: async () => down(), set: async () => undefined },
  'never answers': { get: never, set: never },
  'is full': { get: nothing, set: () => Promise.reject(new Error('OOM command not allowed')) },
  'says what is no answer': { get: () => '{"data":"{}","seen":0,"at":0}', set: nothing },
}

it.each(Object.entries(ill))('a cache that %s is a miss, costs no attempt, and is told of', async (_, shared) => {
  const calls: string[] = []
  const bank = agent('bank', { concurrency: 1 })
  const rate = bank.action('rate', {
    cache: { ttl: '1h' },
    retry: { attempts: 1 },
    run: (of: string) => calls.push(of),
  })
  const quote = workflow('quote', { run: (of: string, task) => task.run(rate, of) })
  const failed: TelemetryEvents['cache:failed'][] = []
  await using s = await stage({
    ...{ workflows: [quote], agents: [bank], cache: { shared } },
    telemetry: { 'cache:failed': (event) => failed.push(event) },
  })
  const tasks = await Promise.all(['EUR', 'EUR', 'GBP'].map((of) => s.submit(quote, of)))
  await s.advance('2s')
  // In this process it is asked once all the same.
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([1, 1, 2])
  expect(calls).toEqual(['EUR', 'GBP'])
  for (const task of tasks) expect((await task.status()).failures).toBe(0)
  expect(failed.length).toBeGreaterThanOrEqual(2)
  expect(s.errors).toEqual([])
})

it('what was answered is asked for no more: nobody waits for that when the answer is over', async () => {
  using file = scratch()
  const environment = new VirtualEnvironment()
  const kept = new Map<string, unknown>()
  const calls: string[] = []
  const bank = agent('bank')
  const rate = bank.action('rate', { cache: { ttl: '1s', jitter: 0 }, run: (of: string) => calls.push(of) })
  const quote = workflow('quote', { run: (of: string, task) => task.run(rate, of) })
  const cache = { shared: { get: (key: string) => kept.get(key), set: (...of: [string, unknown]) => kept.set(...of) } }
  const both = { environment, store: file.store, workflows: [quote], agents: [bank], cache, poll: 100 }
  await using one = await stage(both)
  await using other = await stage(both)
  for (const node of [one, other]) {
    const task = await node.submit(quote, 'EUR')
    await environment.advance(1_000)
    expect((await task.status()).outcome).toBe('success')
  }
  expect(calls).toHaveLength(2)
})

it('what is no cache is refused', async () => {
  using file = scratch()
  const make = async (cache: object) => new Triarch({ store: file.store, cache })
  expect(await codeOf(make({ shared: {} }))).toBe('INVALID_OPTION')
  expect(await codeOf(make({ entries: -1 }))).toBe('INVALID_OPTION')
  expect(await codeOf(make({ redis: 1 }))).toBe('UNKNOWN_OPTION')
})
