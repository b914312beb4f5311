import Keyv from 'keyv'
import { expect, it } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import { encrypt } from '../../src/store/codec/encrypt.ts'
import { codeOf } from './harness.ts'
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
      cache: { shared: new Keyv({ store: kept }) },
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

it('what is no cache is refused', async () => {
  using file = scratch()
  const make = async (cache: object) => new Triarch({ store: file.store, cache })
  expect(await codeOf(make({ shared: {} }))).toBe('INVALID_OPTION')
  expect(await codeOf(make({ entries: -1 }))).toBe('INVALID_OPTION')
  expect(await codeOf(make({ redis: 1 }))).toBe('UNKNOWN_OPTION')
})
