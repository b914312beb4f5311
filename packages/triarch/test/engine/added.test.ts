import { describe, expect, it } from 'vitest'
import { agent, type TaskHandle, TransientError, workflow } from '../../src/index.ts'
import { codeOf, stage } from './harness.ts'

const why = { reason: 'a test', actor: 'ada' }

describe('settings', () => {
  it('change a rate limit, and give one to what has none, for as long as they say so', async () => {
    let calls = 0
    let submitted = 0
    const pay = agent('bank')
    const charge = pay.action('charge', { run: () => void calls++ })
    const order = workflow('order', { run: (_: null, task) => task.run(charge) })
    await using s = await stage({ workflows: [order], agents: [pay], poll: '100ms' })
    const { triarch } = s.engine
    const handle = triarch.settings.get('triarch.agent.bank')
    const begun = async (after: string, count = 20) => {
      const before = calls
      submitted += count
      for (let n = 0; n < count; n++) await s.submit(order, null)
      await s.advance(after as '5s')
      return calls - before
    }
    expect(await begun('5s')).toBe(20)
    for (const change of [
      { rateLimit: { limit: 1, per: '1m' } },
      { actions: { charge: { rateLimit: { limit: 1, per: '1m' } } } },
    ]) {
      await handle.set(change, why)
      const first = await begun('5s')
      expect(first).toBeLessThan(3)
      const [row] = (await triarch.rateLimits.list()).rateLimits
      expect(row).toMatchObject({ name: 'actions' in change ? 'bank.charge' : 'bank', limit: 1, waiting: 20 - first })
      await handle.set(
        {
          ...change,
          rateLimit: { limit: 1_000, per: '1s' },
          actions: { charge: { rateLimit: { limit: 1_000, per: '1s' } } },
        },
        why,
      )
      expect(await begun('5s', 0)).toBe(20 - first)
      await handle.set(change, why)
      expect(await begun('2m')).toBeLessThan(5)
      await handle.clear(why)
      await begun('5s', 5)
      expect(calls).toBe(submitted)
      // Once it is as good as none, nothing of it is left.
      await s.advance('10m')
      expect((await triarch.rateLimits.list()).rateLimits).toEqual([])
    }
    expect(s.alerts).toEqual([])
  })

  it('give a circuit breaker to an agent that has none, and take it away with all that waits for it', async () => {
    let well = false
    let calls = 0
    const pay = agent('bank')
    const charge = pay.action('charge', {
      retry: { attempts: 100, backoff: { initial: '1s', max: '1s' } },
      run: () => {
        calls++
        if (!well) throw new TransientError('ill')
      },
    })
    const order = workflow('order', { run: (_: null, task) => task.run(charge) })
    await using s = await stage({ workflows: [order], agents: [pay], poll: '100ms' })
    const { triarch } = s.engine
    const handle = triarch.settings.get('triarch.agent.bank')
    const info = () => triarch.breakers.get('bank').info()
    for (let round = 0; round < 2; round++) {
      well = false
      await handle.set({ circuitBreaker: { minimum: 4, open: '1h', openMax: '1h' } }, why)
      const tasks: TaskHandle<unknown>[] = []
      for (let n = 0; n < 10; n++) tasks.push(await s.submit(order, null))
      await s.advance('5s')
      expect(await info()).toMatchObject({ state: 'open', waiting: 10, rule: { minimum: 4 } })
      const before = calls
      await s.advance('5m')
      expect(calls).toBe(before)
      expect((await tasks[0]?.explain())?.reasons.map(({ code }) => code)).toContain('breaker')
      well = true
      await handle.clear(why)
      await s.advance('2s')
      for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'success' })
      expect(await codeOf(info())).toBe('UNKNOWN_BREAKER')
    }
    expect(s.alerts.map(({ code }) => code).filter((code) => code !== 'BREAKER_CHANGED')).toEqual([])
  })

  it('change the window of a circuit breaker and what becomes of steps, with what it has seen so far', async () => {
    let well = true
    const pay = agent('bank', {
      circuitBreaker: { window: '10s', minimum: 6, failureRate: 0.5, open: '1h', openMax: '1h' },
    })
    const charge = pay.action('charge', {
      run: () => {
        if (!well) throw new TransientError('ill')
      },
      retry: { attempts: 2, backoff: { initial: '1d', max: '1d' } },
    })
    const order = workflow('order', { run: (_: null, task) => task.run(charge, null, { rescue: 'fail' }) })
    await using s = await stage({ workflows: [order], agents: [pay], poll: '100ms' })
    const { triarch } = s.engine
    const info = () => triarch.breakers.get('bank').info()
    well = false
    for (let n = 0; n < 4; n++) await s.submit(order, null)
    await s.advance('1s')
    expect(await info()).toMatchObject({ state: 'closed', seen: { answers: 4, ill: 4 } })
    await triarch.settings.get('triarch.agent.bank').set({ circuitBreaker: { window: '1h', whenOpen: 'fail' } }, why)
    await s.advance('20m')
    // Of ten seconds it would have forgotten them by now.
    expect(await info()).toMatchObject({ state: 'closed', rule: { window: 3_600_000 }, seen: { answers: 4, ill: 4 } })
    for (let n = 0; n < 2; n++) await s.submit(order, null)
    await s.advance('1s')
    expect((await info()).state).toBe('open')
    const refused = await s.submit(order, null)
    await s.advance('1s')
    expect((await refused.status()).error).toMatchObject({ cause: { code: 'CIRCUIT_OPEN' } })
    expect(
      await codeOf(triarch.settings.get('triarch.agent.bank').set({ circuitBreaker: { key: 'x' } as never }, why)),
    ).toBe('INVALID_SETTING')
  })

  it('say so where they cannot be: whose a step is only the code knows', async () => {
    await using s = await stage({ agents: [agent('plain')] })
    await s.engine.triarch.settings.get('triarch.agent.plain').set({ weights: { gold: 2 } }, why)
    expect(s.alerts.filter(({ code }) => code === 'SETTING_REFUSED')).toMatchObject([
      { message: 'plain has no fairness in its code, and so none can be set while it runs' },
    ])
  })
})

describe('what the code says', () => {
  it('of a breaker or a rate limit is known as soon as the engine has started', async () => {
    const pay = agent('bank', { circuitBreaker: {}, rateLimit: { limit: 1, per: '1m' } })
    await using s = await stage({ agents: [pay] })
    const { triarch } = s.engine
    const [breaker, limit] = await Promise.all([
      triarch.breakers.get('bank').info(),
      triarch.rateLimits.get('bank').info(),
    ])
    expect([breaker.state, limit.limit]).toEqual(['closed', 1])
    await using other = await stage({ agents: [pay] })
    await other.engine.triarch.breakers.get('bank').open(why)
    await using third = await stage({ agents: [pay] })
    await third.engine.triarch.rateLimits.get('bank').lift(why)
    expect(await codeOf(third.engine.triarch.breakers.get('nobody').info())).toBe('UNKNOWN_BREAKER')
  })
})
