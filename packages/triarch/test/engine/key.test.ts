import { describe, expect, it } from 'vitest'
import { type AgentOptions, agent, TransientError, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, type Stage, stage } from './harness.ts'

interface Order {
  of: string
}

const key = (input: unknown) => (input as Order).of
const PER = 1_000

/** An agent whose steps wait by whose they are; who was called when, and who runs. */
function bank(options: AgentOptions, charges: AgentOptions = {}) {
  const calls: { at: number; of: string; what: string }[] = []
  const ends: { of: string; end: () => void }[] = []
  const running = new Map<string, number>()
  const rest = new Map<string, number>()
  let [now, waits] = [() => 0, false]
  const pay = agent('bank', options)
  const meet = async (what: string, { of }: Order) => {
    calls.push({ at: now(), of, what })
    const retryAfter = rest.get(of)
    rest.delete(of)
    if (retryAfter !== undefined) throw new TransientError('429', { retryAfter })
    running.set(of, (running.get(of) ?? 0) + 1)
    if (waits) await new Promise<void>((end) => ends.push({ of, end }))
    running.set(of, (running.get(of) ?? 0) - 1)
  }
  const { rateLimit, concurrency } = charges
  const over = { ...(rateLimit && { rateLimit }), ...(concurrency && { concurrency }) }
  const charge = pay.action('charge', { ...over, run: (order: Order) => meet('charge', order) })
  const look = pay.action('look', { run: (order: Order) => meet('look', order) })
  const charged = workflow('charged', { run: (order: Order, task) => task.run(charge, order) })
  const looked = workflow('looked', { run: (order: Order, task) => task.run(look, order) })
  const start = async () => {
    const s = await stage({ workflows: [charged, looked], agents: [pay] })
    now = () => s.engine.now().getTime()
    return s
  }
  const wait = () => {
    waits = true
  }
  return { calls, ends, running, rest, charged, looked, start, wait }
}

const submit = (s: Stage, of: ReturnType<typeof bank>['charged'], whose: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => s.submit(of, { of: whose }, { id: `${of.name}-${whose}-${n}` })))

const most = (calls: readonly { at: number }[]) =>
  Math.max(0, ...calls.map(({ at: from }) => calls.filter(({ at }) => at >= from && at < from + PER).length))

describe('a limit with a key', () => {
  it('is one for each key: one that has used up its own keeps nobody else waiting', async () => {
    const of = bank({ rateLimit: { limit: 10, per: PER, burst: 1, key } })
    await using s = await of.start()
    const loud = await submit(s, of.charged, 'loud', 60)
    await s.advance('500ms')
    const quiet = await submit(s, of.charged, 'quiet', 3)
    await s.advance('1s')
    expect(of.calls.filter((it) => it.of === 'quiet')).toHaveLength(3)
    expect(of.calls.filter((it) => it.of === 'loud').length).toBeLessThan(30)
    await s.advance('10s')
    expect(await Promise.all([...loud, ...quiet].map((task) => task.result()))).toHaveLength(63)
    for (const whose of ['loud', 'quiet'])
      expect(most(of.calls.filter((it) => it.of === whose))).toBeLessThanOrEqual(11)
  })

  it('rests for the key whose service asks for it, and for no other', async () => {
    const of = bank({ rateLimit: { limit: 100, per: PER, burst: 10, key } })
    await using s = await of.start()
    of.rest.set('eu', 5_000)
    await submit(s, of.charged, 'eu', 1)
    await s.advance('500ms')
    expect(of.calls).toHaveLength(1)
    await submit(s, of.looked, 'eu', 4)
    await submit(s, of.looked, 'us', 4)
    await s.advance('2s')
    expect(of.calls.filter((it) => it.of === 'us')).toHaveLength(4)
    expect(of.calls.filter((it) => it.of === 'eu')).toHaveLength(1)
    const { reasons } = await s.engine.triarch.tasks.get('looked-eu-0').explain()
    expect(reasons).toMatchObject([{ code: 'rate-limit', limit: 'bank#eu' }])
    await s.advance('10s')
    expect(of.calls.filter((it) => it.of === 'eu')).toHaveLength(6)
  })

  it('of an action holds beside that of its agent', async () => {
    const of = bank(
      { rateLimit: { limit: 20, per: PER, burst: 2 } },
      { rateLimit: { limit: 5, per: PER, burst: 1, key } },
    )
    await using s = await of.start()
    for (const whose of ['a', 'b', 'c', 'd', 'e', 'f']) await submit(s, of.charged, whose, 10)
    await submit(s, of.looked, 'a', 20)
    await s.advance('30s')
    expect(of.calls).toHaveLength(80)
    expect(most(of.calls)).toBeLessThanOrEqual(22)
    for (const whose of ['a', 'b', 'c'])
      expect(most(of.calls.filter((it) => it.of === whose && it.what === 'charge'))).toBeLessThanOrEqual(6)
  })

  it('bounds how many run of each key over all nodes, and goes on as they end', async () => {
    const of = bank({ concurrency: { shared: 2, key } })
    of.wait()
    await using s = await of.start()
    const tasks = [...(await submit(s, of.charged, 'eu', 6)), ...(await submit(s, of.looked, 'us', 3))]
    await s.advance('1s')
    expect(Object.fromEntries(of.running)).toEqual({ eu: 2, us: 2 })
    const waiting = await Promise.all(tasks.map(async (task) => (await task.explain()).reasons))
    const held = waiting.flat().filter(({ code }) => code === 'concurrency')
    expect(held.map((it) => 'limit' in it && it.limit).sort()).toEqual([
      'bank#eu',
      'bank#eu',
      'bank#eu',
      'bank#eu',
      'bank#us',
    ])
    expect(held[0]).toMatchObject({ running: 2, most: 2, waiting: 4 })
    for (let n = 0; n < 9; n++) {
      of.ends.shift()?.end()
      await s.advance('20ms')
      for (const count of of.running.values()) expect(count).toBeLessThanOrEqual(2)
    }
    await s.advance('100ms')
    expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(9)
  })

  it('keeps nothing of a key that nobody uses any more', async () => {
    const of = bank({ rateLimit: { limit: 10, per: PER, key } })
    await using s = await of.start()
    for (let n = 0; n < 20; n++) await submit(s, of.charged, `once ${n}`, 1)
    await s.advance('5s')
    const rows = () => s.store.breakers({ kind: 'rate', after: '', limit: 100, count: 1 })
    expect((await rows()).length).toBeGreaterThanOrEqual(20)
    await s.advance('3h')
    expect(await rows()).toEqual([])
    await submit(s, of.looked, 'once 3', 5)
    await s.advance('2s')
    expect(of.calls).toHaveLength(25)
  })

  it('fails the attempt whose input gives none', async () => {
    const of = bank({ rateLimit: { limit: 10, per: PER, key: () => '' } })
    await using s = await of.start()
    const [task] = await submit(s, of.charged, 'x', 1)
    await s.advance('1m')
    const [failed] = await eventsOf(task as never, 'attemptFailed')
    expect(JSON.stringify(failed)).toContain('key must return a string')
    expect(of.calls).toEqual([])
  })

  it('is one function for all that waits by keys, and not changed while it runs', async () => {
    const refused = (options: AgentOptions, charges?: AgentOptions) => codeOf(Promise.try(() => bank(options, charges)))
    const rateLimit = { limit: 10, per: PER, key }
    expect(await refused({ rateLimit, concurrency: { shared: 2, key: () => 'x' } })).toBe('INVALID_OPTION')
    expect(await refused({ rateLimit, circuitBreaker: { open: '1s' } })).toBe('INVALID_OPTION')
    expect(await refused({ circuitBreaker: {} }, { rateLimit })).toBe('INVALID_OPTION')
    expect(await refused({ rateLimit }, { rateLimit: { ...rateLimit, key: () => 'x' } })).toBe('INVALID_OPTION')
    expect(await refused({ rateLimit: { ...rateLimit, key: 3 as never } })).toBe('INVALID_OPTION')
    expect(await refused({ rateLimit, concurrency: { shared: 2, key }, circuitBreaker: { key } })).toBe('nothing')
    const of = bank({ rateLimit })
    await using s = await of.start()
    const setting = s.engine.triarch.settings.get('triarch.agent.bank')
    const set = setting.set({ rateLimit: { limit: 5, per: PER, key } } as never, { reason: 'no' })
    expect(await codeOf(set)).not.toBe('nothing')
  })

  it('holds behind a circuit breaker of the same key, which opens by itself', async () => {
    const circuitBreaker = { key, minimum: 2, open: '2s', failureRate: 0.5 } as const
    const of = bank({
      circuitBreaker,
      rateLimit: { limit: 10, per: PER, burst: 1, key },
      concurrency: { shared: 3, key },
    })
    await using s = await of.start()
    await submit(s, of.charged, 'eu', 20)
    await submit(s, of.charged, 'us', 5)
    await s.advance('20s')
    expect(of.calls).toHaveLength(25)
    expect(most(of.calls.filter((it) => it.of === 'eu'))).toBeLessThanOrEqual(11)
  })
})
