import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { seen, stage } from './harness.ts'

/** A node whose agent has both, and how often it read either. */
async function scene() {
  const bank = agent('bank', { circuitBreaker: {}, rateLimit: { limit: 1_000, per: '1s' } })
  const charge = bank.action('charge', { run: async () => 'charged' })
  const charged = workflow('charged', { run: (_: null, task) => task.run(charge) })
  let readings = 0
  const store = seen(memory(), (inner) => ({
    breakers: (query) => {
      readings++
      return inner.breakers(query)
    },
  }))
  const s = await stage({ store, poll: '25ms', agents: [bank], workflows: [charged] })
  const during = async (work: () => Promise<unknown>) => {
    const before = readings
    await work()
    return readings - before
  }
  return { s, charged, during }
}

describe('a node whose agents have a circuit breaker and a rate limit', () => {
  it('reads them a few times a second while nobody uses them, and often while somebody does', async () => {
    const { s, charged, during } = await scene()
    await using _ = s
    await s.advance('1s')
    const atRest = await during(() => s.advance('10s'))
    expect(atRest).toBeGreaterThan(40)
    expect(atRest).toBeLessThan(100)
    const inUse = await during(async () => {
      for (let n = 0; n < 50; n++) {
        await s.submit(charged, null)
        await s.advance(20)
      }
    })
    expect(inUse).toBeGreaterThan(30)
  })

  it('lets a step begin at once that comes after a rest, and reads them then', async () => {
    const { s, charged, during } = await scene()
    await using _ = s
    await s.advance('10s')
    const task = await s.submit(charged, null)
    expect(await during(() => s.advance(30))).toBeGreaterThan(0)
    expect(await task.status()).toMatchObject({ outcome: 'success' })
  })
})

describe('a reading of many breakers that takes its time', () => {
  it('is followed by a pause of four times that, not by the next one', async () => {
    const bank = agent('bank', { circuitBreaker: {} })
    let [readings, takes] = [0, 0]
    const environment = new VirtualEnvironment()
    const slow = seen(memory(), (inner) => ({
      breakers: async (query) => {
        readings++
        if (takes > 0) await new Promise<void>((resolve) => environment.timer(takes, resolve))
        return inner.breakers(query)
      },
    }))
    const s = await stage({ environment, store: slow, poll: '50ms', agents: [bank] })
    await using _ = s
    await s.engine.triarch.breakers.get('bank').open({ reason: 'a test', actor: 'ada' })
    takes = 80
    await s.advance('2s')
    const before = readings
    await s.advance('10s')
    expect(readings - before).toBeGreaterThan(20)
    expect(readings - before).toBeLessThan(30)
  })
})
