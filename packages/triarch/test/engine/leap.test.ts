import { describe, expect, it } from 'vitest'
import { agent, type Leadership, TransientError, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

const HOUR = 3_600_000

/** A machine whose wall clock is put forward or back while all runs: its store's clock is the same one. */
class Leaping extends VirtualEnvironment {
  leap = 0
  #blocked = 0

  override now(): number {
    return super.now() + this.leap + this.#blocked
  }

  override monotonic(): number {
    return super.monotonic() + this.#blocked
  }

  /** Somebody's code lets nothing else run for so long (ms). */
  block(ms: number): void {
    this.#blocked += ms
  }
}

/** True time (ms), whatever the clock says. */
const truly = (environment: Leaping) => environment.monotonic()

describe.each([
  ['forward', HOUR],
  ['back', -HOUR],
])('a clock that is put %s by an hour', (_, leap) => {
  it('lets a rate limit be passed by one burst at most, and keeps nothing waiting', async () => {
    const environment = new Leaping()
    const begun: number[] = []
    const [limit, burst, per] = [20, 4, 1_000]
    const bank = agent('bank', { rateLimit: { limit, burst, per } })
    // Complete-by is an instant of the clock.
    const charge = bank.action('charge', { attemptWithin: '3h', run: () => void begun.push(truly(environment)) })
    const order = workflow('order', { run: (_: null, task) => task.run(charge) })
    await using s = await stage({ environment, workflows: [order], agents: [bank], poll: '100ms' })
    for (let n = 0; n < 200; n++) await s.submit(order, null, { id: `o-${n}` })
    await s.advance('3s')
    environment.leap = leap
    await s.advance('20s')
    expect(begun).toHaveLength(200)
    const within = begun.map((from) => begun.filter((at) => at >= from && at < from + per).length)
    expect(Math.max(...within)).toBeLessThanOrEqual(limit + 2 * burst)
  })

  it.each([
    ['while it is open', 2_000],
    ['while it is tried', 10_500],
  ])('keeps a circuit breaker from its probes no longer than it may be open, and opens none: %s', async (_, at) => {
    const environment = new Leaping()
    let well = false
    const bank = agent('bank', { circuitBreaker: { minimum: 4, open: '10s', openMax: '20s', probes: 1 } })
    const charge = bank.action('charge', {
      retry: { attempts: 1_000, backoff: { initial: '1s', max: '1s' } },
      run: async () => {
        if (well) return
        await new Promise<void>((resolve) => environment.timer(500, resolve))
        throw new TransientError('ill')
      },
    })
    const order = workflow('order', { run: (_: null, task) => task.run(charge) })
    await using s = await stage({ environment, workflows: [order], agents: [bank], poll: '100ms', lease: '3s' })
    const tasks = await Promise.all(Array.from({ length: 10 }, (_, n) => s.submit(order, null, { id: `o-${n}` })))
    await s.advance(at)
    environment.leap = leap
    well = true
    // Its time once more at most, and a lease for a probe that was under way.
    await s.advance('45s')
    const left = (await Promise.all(tasks.map((task) => task.status()))).filter(({ status }) => status !== 'stopped')
    // A probe that failed is tried again at an instant: by a clock that was put back it comes as much later.
    expect(left.length).toBeLessThanOrEqual(leap < 0 && at > 10_000 ? 1 : 0)
    expect((await s.engine.triarch.breakers.get('bank').info()).state).toBe('closed')
    for (let n = 0; n < 10; n++) await s.submit(order, null, { id: `after-${n}` })
    await s.advance(left.length > 0 ? '61m' : '5s')
    for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'success' })
    expect((await s.engine.triarch.breakers.get('bank').info()).state).toBe('closed')
  })

  it('forgets no step that ages, and leaves none behind what comes after for longer than that hour', async () => {
    const environment = new Leaping()
    const done: string[] = []
    const bank = agent('bank', { concurrency: 1, ageing: '1m' })
    const charge = bank.action('charge', {
      attemptWithin: '3h',
      run: async (id: string) => {
        await new Promise<void>((resolve) => environment.timer(60_000, resolve))
        done.push(id)
      },
    })
    const order = workflow('order', { run: (id: string, task) => task.run(charge, id) })
    await using s = await stage({ environment, workflows: [order], agents: [bank], poll: '1m', sweep: '1m' })
    for (let n = 0; n < 3; n++) await s.submit(order, `before ${n}`)
    await s.advance('10s')
    environment.leap = leap
    // As many come as can be done: whoever is passed by all of them never has a turn.
    for (let n = 0; n < 70; n++) {
      await s.submit(order, `after ${n}`)
      await s.advance('1m')
    }
    await s.advance('2h')
    expect(done).toHaveLength(73)
    const place = (id: string) => done.indexOf(id)
    const first = leap > 0 ? 'after 0' : 'after 62'
    for (const n of [0, 1, 2]) expect(place(`before ${n}`)).toBeLessThan(place(first))
  })

  it('lets nobody lead beside a leader, and another once that is gone', async () => {
    using file = scratch()
    const environment = new Leaping()
    const node = () => stage({ store: file.store, environment, lease: '10s', sweep: '1s', poll: '100ms' })
    const one = await node()
    await using other = await node()
    const terms: Leadership[] = []
    const lead = (s: typeof one) =>
      void s.engine.triarch.leaders.lead('exporter', (leadership) => {
        terms.push(leadership)
        return new Promise<void>((resolve) => leadership.signal.addEventListener('abort', () => resolve()))
      })
    lead(one)
    await one.advance('1s')
    lead(other)
    await one.advance('5s')
    environment.leap = leap
    for (let n = 0; n < 300; n++) {
      await one.advance(200)
      expect(terms.filter((term) => term.holds()).length).toBeLessThan(2)
    }
    await one.kill()
    await other.advance('30s')
    expect(terms.at(-1)?.holds()).toBe(true)
  })
})

describe('a listener that blocks the event loop each time, and then throws', () => {
  it('passes no rate limit, opens no breaker, changes no leader, and keeps nothing waiting', async () => {
    const environment = new Leaping()
    const begun: number[] = []
    const [limit, burst, per] = [20, 4, 1_000]
    const hostile = () => {
      environment.block(70)
      throw new Error('a listener')
    }
    const bank = agent('bank', { rateLimit: { limit, burst, per }, circuitBreaker: { minimum: 2, slowerThan: '10s' } })
    const charge = bank.action('charge', { run: () => void begun.push(truly(environment)) })
    const order = workflow('order', { run: (_: null, task) => task.run(charge) })
    const telemetry = {
      'attempt:started': hostile,
      'attempt:ended': hostile,
      setting: hostile,
      'step:retried': hostile,
    }
    const errors: unknown[] = []
    await using s = await stage({
      ...{ environment, workflows: [order], agents: [bank], telemetry, poll: '100ms', lease: '10s' },
      onError: (error) => errors.push(error),
    })
    const { triarch } = s.engine
    triarch.on('alert', hostile)
    const terms: Leadership[] = []
    const led = triarch.leaders.lead('exporter', (leadership) => {
      terms.push(leadership)
      return new Promise<void>((resolve) => leadership.signal.addEventListener('abort', () => resolve()))
    })
    const tasks = await Promise.all(Array.from({ length: 60 }, (_, n) => s.submit(order, null, { id: `o-${n}` })))
    await s.advance('1s')
    await triarch.settings.get('triarch.agent.bank').set({ concurrency: 7 }, { reason: 'a test' })
    await s.advance('20s')
    for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'success', failures: 0 })
    const within = begun.map((from) => begun.filter((at) => at >= from && at < from + per).length)
    expect(Math.max(...within)).toBeLessThanOrEqual(limit + burst)
    expect(errors.length).toBeGreaterThan(0)
    expect((await triarch.breakers.get('bank').info()).changes).toEqual([])
    expect(terms.map((term) => term.holds())).toEqual([true])
    await s.kill()
    await led
  })
})

it('a task that sleeps wakes at its instant by the clock of the node that has the store then, though that begins earlier', async () => {
  using file = scratch()
  const nap = workflow('nap', {
    async run(_: null, task) {
      await task.sleep('1d')
    },
  })
  const at = (day: string) =>
    stage({ environment: new VirtualEnvironment({ start: new Date(day) }), store: file.store, workflows: [nap] })
  const first = await at('2026-01-05')
  const { id } = await first.submit(nap, null)
  await first.advance('1h')
  await first.kill()
  const second = await at('2026-01-01')
  const task = second.engine.tasks.get(id)
  await second.advance('119h')
  expect((await task.status()).status).toBe('running')
  await second.advance('2h')
  expect((await task.status()).outcome).toBe('success')
  await second.kill()
})
