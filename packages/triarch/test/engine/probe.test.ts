import { describe, expect, it } from 'vitest'
import type { KeptEndpoint, Leadership, ProbeResult } from '../../src/index.ts'
import { encrypt } from '../../src/store/codec/encrypt.ts'
import { type Stage, stage } from './harness.ts'

const look = (at: Date, given: Partial<ProbeResult> = {}): ProbeResult => ({ at, ms: 5, redirects: [], ...given })
const problem = { code: 'status', message: 'the status is 500' } as const
const kept = (now: Date, given: Partial<KeptEndpoint> = {}): KeptEndpoint => {
  const lateAt = new Date(now.getTime() + 30_000)
  return { name: 'shop', url: 'https://shop.example.com/', state: 'up', since: now, streak: 1, lateAt, ...given }
}
/** Leads until the stage is over. */
const leads = (s: Stage): Promise<Leadership> => {
  const { promise, resolve, reject } = Promise.withResolvers<Leadership>()
  const hold = (leadership: Leadership) => {
    resolve(leadership)
    return new Promise((end) => leadership.signal.addEventListener('abort', end))
  }
  s.engine.triarch.leaders.lead('prober', hold).catch(reject)
  return promise
}

describe('what a prober keeps', () => {
  it('is read as it was written, of its URL no query, and of its history the last hundred looks', async () => {
    await using s = await stage({})
    const { keepProbes } = await leads(s)
    const now = s.engine.now()
    const history = Array.from({ length: 150 }, (_, n) =>
      look(new Date(n), n % 2 === 0 ? {} : { problem, status: 500 }),
    )
    const last = look(now, { certificateUntil: new Date(7), redirects: ['https://shop.example.com/a'], address: '::1' })
    await keepProbes([kept(now, { url: 'https://shop.example.com/x?key=secret', last, history })])
    const { triarch } = s.engine
    const shop = kept(now, { url: 'https://shop.example.com/x', last })
    expect(await triarch.health.probes()).toEqual({ endpoints: [shop] })
    const { endpoints } = await triarch.health.probes({ names: ['shop', 'none'], history: true })
    expect(endpoints).toEqual([{ ...shop, history: history.slice(50) }])
  })

  it('is bounded in bytes, by pages, and by what an endpoint may be', async () => {
    await using s = await stage({})
    const { keepProbes } = await leads(s)
    const { triarch } = s.engine
    const now = s.engine.now()
    const long = look(now, { redirects: Array(50).fill(`https://shop.example.com/${'x'.repeat(2_000)}`) })
    await keepProbes(['a', 'b', 'c'].map((name) => kept(now, { name, history: Array(100).fill(long) })))
    const { endpoints, next } = await triarch.health.probes({ limit: 2, history: true })
    expect([endpoints.map(({ name }) => name), next]).toEqual([['a', 'b'], 'b'])
    expect(JSON.stringify(endpoints[0]?.history).length).toBeLessThan(70_000)
    expect(endpoints[0]?.history?.length).toBeGreaterThan(5)
    expect((await triarch.health.probes({ cursor: 'b' })).endpoints.map(({ name }) => name)).toEqual(['c'])
    for (const wrong of [{ name: 'a b' }, { url: 'shop' }, { since: new Date(Number.NaN) }, { state: 'odd' as 'up' }])
      await expect(keepProbes([kept(now, wrong)])).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    const many = { names: Array(101).fill('a'), history: true }
    for (const options of [many, { limit: 101, history: true }, { limit: 1_001 }])
      await expect(triarch.health.probes(options)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(keepProbes([], Array(1_001).fill('a'))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(triarch.health.probes({ names: 'a' as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  it('goes through the codecs, its history as well', async () => {
    await using s = await stage({ codec: [encrypt({ keys: [{ id: 'k', key: Buffer.alloc(32, 1) }] })] })
    const { keepProbes } = await leads(s)
    const now = s.engine.now()
    await keepProbes([kept(now, { history: [look(now, { problem })] })])
    const [row] = await s.store.probes({ after: '', limit: 1, results: true })
    expect([typeof row?.state, typeof row?.results]).toEqual(['string', 'string'])
    expect(`${row?.state} ${row?.results}`).not.toMatch(/example|status/)
    const { endpoints } = await s.engine.triarch.health.probes({ history: true })
    expect(endpoints[0]?.history).toEqual([look(now, { problem })])
  })
})

describe('the rule probe-down', () => {
  it('tells at once of an endpoint that is down, and of its end; and of one that nobody probes', async () => {
    await using s = await stage({ alerts: { rules: { 'probe-down': { keep: 0 } } }, health: { cache: 0 } })
    const { keepProbes } = await leads(s)
    const { triarch } = s.engine
    const alerts = async () => (await triarch.alerts.list()).alerts.map((one) => [one.name, one.phase, one.severity])
    const health = async () => (await triarch.health.check({ checks: ['probes'] })).checks[0]
    await keepProbes([kept(s.engine.now()), kept(s.engine.now(), { name: 'other' })])
    await s.advance('16s')
    expect(await alerts()).toEqual([])
    expect(await health()).toMatchObject({ status: 'ok', observed: { endpoints: 2, down: 0, late: 0 } })
    const now = s.engine.now()
    await keepProbes([kept(now, { state: 'down', last: look(now, { problem }) })])
    await s.advance('16s')
    expect(await alerts()).toEqual([['probe-down:shop', 'firing', 'critical']])
    const message = '1 of 2 endpoints are down: shop: the status is 500'
    expect(await health()).toMatchObject({ status: 'critical', message })
    await keepProbes([kept(s.engine.now())], ['other'])
    await s.advance('16s')
    expect(await alerts()).toEqual([])
    await s.advance('2m')
    expect(await alerts()).toEqual([['probe-down:shop', 'firing', 'warning']])
    expect(await health()).toMatchObject({ status: 'warning', message: 'nobody probes 1 of 1 endpoints: shop' })
  })
})
