import { describe, expect, it, vi } from 'vitest'
import type { Environment } from '../../src/environment/environment.ts'
import { KeyedRateLimit } from '../../src/flow/keyed-rate-limit.ts'
import { RateReservation } from '../../src/flow/rate-reservation.ts'
import { RateSync } from '../../src/flow/rate-sync.ts'
import { agent, PermanentError, type RateLimitOptions, TransientError, workflow } from '../../src/index.ts'
import { storedRate } from '../../src/store/rate.ts'
import { codeOf, eventsOf, type Stage, stage } from './harness.ts'

const PER = 1_000

/** An agent under a rate limit; when it was called. */
function bank({ own, charges }: { own?: RateLimitOptions; charges?: RateLimitOptions } = {}) {
  const calls: { at: number; what: string }[] = []
  let now = () => 0
  let busy = 0
  const service = { wants: 0 }
  const pay = agent('bank', { ...(own && { rateLimit: own }) })
  const meet = (what: string) => {
    calls.push({ at: now(), what })
    if (service.wants > 0) {
      const retryAfter = service.wants
      service.wants = 0
      throw new TransientError('429', { retryAfter })
    }
  }
  const charge = pay.action('charge', { ...(charges && { rateLimit: charges }), run: () => meet('charge') })
  const look = pay.action('look', { run: () => meet('look') })
  const refuse = pay.action('refuse', {
    run: () => {
      busy++
      throw new PermanentError('no')
    },
  })
  const charged = workflow('charged', { run: (_: null, task) => task.run(charge) })
  const looked = workflow('looked', { run: (_: null, task) => task.run(look) })
  const refused = workflow('refused', { run: (_: null, task) => task.run(refuse, undefined, { rescue: 'fail' }) })
  const start = async (): Promise<Stage> => {
    const s = await stage({ workflows: [charged, looked, refused], agents: [pay] })
    now = () => s.engine.now().getTime()
    return s
  }
  return { calls, service, charged, looked, refused, start, busy: () => busy }
}

function most(calls: readonly { at: number }[], span = PER): number {
  return Math.max(0, ...calls.map(({ at: from }) => calls.filter(({ at }) => at >= from && at < from + span).length))
}

const submit = (s: Stage, of: ReturnType<typeof bank>['charged'], count: number, name = of.name) =>
  Promise.all(Array.from({ length: count }, (_, n) => s.submit(of, null, { id: `${name}-${n}` })))

describe('an agent with a rate limit', () => {
  it('begins no more attempts than it says in any span, gets near it, and forgets none', async () => {
    const of = bank({ own: { limit: 20, per: PER, burst: 5 } })
    await using s = await of.start()
    const tasks = await submit(s, of.charged, 200)
    await s.advance('5s')
    expect(most(of.calls)).toBeLessThanOrEqual(25)
    expect(of.calls.length).toBeGreaterThan(85)
    await s.advance('10s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(200)
    expect(of.calls).toHaveLength(200)
    expect(most(of.calls)).toBeLessThanOrEqual(25)
  })

  it('costs what waits no attempt and no slot, and explain says what it waits for', async () => {
    const of = bank({ own: { limit: 2, per: '1m', burst: 1 } })
    await using s = await of.start()
    const tasks = await submit(s, of.charged, 12)
    await s.advance('1s')
    const { reasons } = await (tasks[11] as (typeof tasks)[number]).explain()
    expect(reasons).toMatchObject([{ code: 'rate-limit', limit: 'bank', action: 'bank.charge' }])
    expect(reasons[0]?.text).toContain('the rate limit of bank (2 attempts in 1 min) lets no more begin before')
    await s.advance('8m')
    for (const task of tasks) expect(await eventsOf(task as never, 'attemptFailed')).toEqual([])
    expect(of.calls).toHaveLength(12)
  })

  it('holds for all of its actions together, and an action may have one of its own', async () => {
    const of = bank({ own: { limit: 40, per: PER, burst: 4 }, charges: { limit: 10, per: PER, burst: 1 } })
    await using s = await of.start()
    await submit(s, of.charged, 30)
    await submit(s, of.looked, 60)
    await s.advance('10s')
    const charges = of.calls.filter(({ what }) => what === 'charge')
    expect(of.calls).toHaveLength(90)
    expect(most(charges)).toBeLessThanOrEqual(11)
    expect(most(of.calls)).toBeLessThanOrEqual(44)
    // What is slow of its own holds up nobody else.
    const looks = of.calls.filter(({ what }) => what === 'look')
    expect(looks.at(-1)?.at).toBeLessThan(charges.at(-1)?.at as number)
    // And is not passed by all the others for ever.
    expect(charges[10]?.at).toBeLessThan(looks.at(-1)?.at as number)
  })

  it('is left alone as a whole for as long as its service asks by retryAfter', async () => {
    const of = bank({ own: { limit: 20, per: PER, burst: 2 } })
    await using s = await of.start()
    await submit(s, of.charged, 40)
    await s.advance('500ms')
    of.service.wants = 5_000
    await s.advance('500ms')
    const asked = of.calls.length
    await s.advance('4s')
    expect(of.calls).toHaveLength(asked)
    const [waiting] = (await s.engine.triarch.tasks.list({ limit: 100 })).tasks.filter(
      ({ status }) => status === 'running',
    )
    if (waiting) {
      const { text } = await s.engine.triarch.tasks.get(waiting.id).explain()
      expect(text).toMatch(/its service asked for a rest|tries step/)
    }
    await s.advance('10s')
    expect(of.calls.length).toBeGreaterThan(asked + 20)
  })

  it('lets what waits be cancelled, and expire at its complete-by', async () => {
    const of = bank({ own: { limit: 1, per: '1h', burst: 1 } })
    await using s = await of.start()
    await submit(s, of.charged, 2)
    await s.advance('1s')
    const late = await s.submit(of.charged, null, { id: 'late', completeBy: '3s' })
    const gone = await s.submit(of.charged, null, { id: 'gone' })
    await s.advance('1s')
    await gone.cancel()
    await s.advance('5s')
    expect(await gone.status()).toMatchObject({ status: 'stopped', outcome: 'cancelled' })
    expect(await late.status()).toMatchObject({ status: 'stopped', outcome: 'error' })
  })

  it('tells the store of a rest that the service asked for while its node stopped', async () => {
    const environment = { now: () => 0, monotonic: () => 0, timer: () => ({ cancel: () => undefined }) }
    const rule = { limit: 10, per: PER, burst: 1 }
    const make = () => new RateReservation({ name: 'bank', agent: 'bank' }, rule, environment, () => 0)
    const quota = new KeyedRateLimit({ name: 'bank', isKeyed: false }, rule, make)
    const [allowance] = quota.all as [RateReservation]
    let row: { version: number; state: string | null } = { version: 0, state: null }
    const rates = new RateSync({
      environment: environment as unknown as Environment,
      store: {
        breakers: async () => (row.version === 0 ? [] : [{ kind: 'rate', name: 'bank', waiting: 0, ...row }]),
        writeBreaker: async ({ expected, state }) => {
          if (expected !== row.version) return false
          row = { version: expected + 1, state }
          return true
        },
      },
      quotas: () => [quota],
      ...{ every: 100, lag: () => 0, free: () => 1, wake: () => undefined },
      failed: (error) => expect.unreachable(String(error)),
    })
    rates.start()
    await vi.waitFor(() => expect(allowance.version).toBe(1))
    rates.stop()
    allowance.rest(5_000)
    await rates.drain()
    expect(storedRate(row.state)?.state.rests).toBe(5_000)
  })

  it('takes a change of its rule that comes while the store is told of another for one that is to be told', () => {
    const environment = { now: () => 0, monotonic: () => 0 }
    const of = new RateReservation(
      { name: 'bank', agent: 'bank' },
      { limit: 1, per: 60_000, burst: 1 },
      environment,
      () => 0,
    )
    of.take(1, { next: 50_000, rests: 0 })
    of.change({ limit: 2, per: 60_000, burst: 1 })
    const { changes, said } = of
    expect(said.next).toBeLessThan(31_000)
    of.change({ limit: 10, per: 60_000, burst: 1 })
    of.settled(changes)
    of.counted(0)
    expect(of.said.next).toBeLessThan(7_000)
    of.settled(of.changes)
    expect(of.said.next).toBe(50_000)
  })

  it('is refused where it makes no sense', async () => {
    const options = (rateLimit: object) => async () => agent('a', { rateLimit: rateLimit as RateLimitOptions })
    for (const wrong of [
      { limit: 0, per: '1s' },
      { limit: 1.5, per: '1s' },
      { limit: 1, per: '10ms' },
      { limit: 1, per: '2d' },
      { limit: 10, per: '1s', burst: 11 },
      { limit: 1_000, per: '1s', burst: 99 },
    ])
      expect(await codeOf(options(wrong)())).toBe('INVALID_OPTION')
    expect(await codeOf(options({ limit: 1, per: '1s', bursts: 1 })())).toBe('UNKNOWN_OPTION')
    expect(await codeOf(options({ limit: 1, per: 'soon' })())).toBe('INVALID_DURATION')
    const one = agent('b', {})
    const wrong = async () => one.action('c', { run: () => 1, rateLimit: { limit: 0, per: '1s' } })
    expect(await codeOf(wrong())).toBe('INVALID_OPTION')
  })
})
