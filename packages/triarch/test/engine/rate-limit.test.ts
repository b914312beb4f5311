import { describe, expect, it } from 'vitest'
import { agent, TransientError, workflow } from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'

const PER = 1_000

async function bank() {
  const calls: number[] = []
  const service = { wants: 0 }
  let now = () => 0
  const key = (input: unknown) => String(input)
  const pay = agent('bank', { rateLimit: { limit: 10, per: PER, burst: 1 } })
  const charge = pay.action('charge', {
    run: () => {
      calls.push(now())
      const retryAfter = service.wants
      service.wants = 0
      if (retryAfter > 0) throw new TransientError('429', { retryAfter })
    },
  })
  const mail = agent('mail', { rateLimit: { limit: 5, per: PER, key } })
  const send = mail.action('send', { run: (to: string) => to })
  const charged = workflow('charged', { run: (_: null, task) => task.run(charge) })
  const sent = workflow('sent', { run: (to: string, task) => task.run(send, to) })
  // Words of operators are heard with the next reading.
  const s = await stage({ workflows: [charged, sent], agents: [pay, mail], poll: '100ms' })
  now = () => s.engine.now().getTime()
  return { s, calls, service, charged, sent, [Symbol.asyncDispose]: () => s[Symbol.asyncDispose]() }
}

const submit = (s: Stage, of: Awaited<ReturnType<typeof bank>>['charged'], count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, n) => s.submit(of, null, { id: `${name}-${n}` })))

const why = { reason: 'a sale', actor: 'ada' }

describe('rate limits, and the operator\u2019s word on them', () => {
  it('are listed by name with their numbers and what waits, those of keys too', async () => {
    await using of = await bank()
    const { s } = of
    await submit(s, of.charged, 30, 'a')
    for (const to of ['ada', 'bob']) await s.submit(of.sent, to, { id: to })
    await s.advance('500ms')
    const { rateLimits, next } = await s.engine.triarch.rateLimits.list({ limit: 2 })
    expect(rateLimits).toMatchObject([
      { name: 'bank', agent: 'bank', limit: 10, per: PER, burst: 1, changes: [] },
      { name: 'mail#ada', agent: 'mail', key: 'ada', limit: 5, waiting: 0 },
    ])
    expect(rateLimits[0]?.waiting).toBeGreaterThan(10)
    expect(rateLimits[0]).toMatchObject({ action: undefined, key: undefined, forced: undefined, rests: undefined })
    const rest = await s.engine.triarch.rateLimits.list({ cursor: next as string })
    expect([rest.rateLimits.map(({ name }) => name), rest.next]).toEqual([['mail#bob'], undefined])
    expect(await s.engine.triarch.rateLimits.get('bank').info()).toEqual(rateLimits[0])
    expect((await s.engine.triarch.breakers.list()).breakers).toEqual([])
  })

  it('are other for a time, and their own again after it', async () => {
    await using of = await bank()
    const { s } = of
    await submit(s, of.charged, 300, 'a')
    await s.advance('1s')
    const until = new Date(s.engine.now().getTime() + 3_000)
    await s.engine.triarch.rateLimits.get('bank').change({ limit: 50, per: '1s', burst: 5, until, ...why })
    const forced = { lifted: false, limit: 50, per: PER, burst: 5, until }
    expect(await s.engine.triarch.rateLimits.get('bank').info()).toMatchObject({ limit: 10, forced })
    const before = of.calls.length
    await s.advance('3s')
    const quick = of.calls.length - before
    expect(quick).toBeGreaterThan(120)
    expect(quick).toBeLessThanOrEqual(165)
    await s.advance('1s')
    const after = of.calls.length
    await s.advance('4s')
    expect(of.calls.length - after).toBeLessThanOrEqual(42)
    const info = await s.engine.triarch.rateLimits.get('bank').info()
    expect([info.forced, info.changes]).toMatchObject([undefined, [{ did: 'changed', actor: 'ada', reason: 'a sale' }]])
  })

  it('are lifted with the rest that the service asked for, until they are restored', async () => {
    await using of = await bank()
    const { s } = of
    of.service.wants = 600_000
    await submit(s, of.charged, 200, 'a')
    await s.advance('1s')
    expect(of.calls).toHaveLength(1)
    const limit = s.engine.triarch.rateLimits.get('bank')
    expect((await limit.info()).rests).toBeInstanceOf(Date)
    await limit.lift(why)
    await s.advance('2s')
    expect(of.calls.length).toBeGreaterThan(190)
    expect(await limit.info()).toMatchObject({ rests: undefined, forced: { lifted: true, until: undefined } })
    await limit.restore({ reason: 'enough' })
    await s.advance('1s')
    const before = of.calls.length
    await submit(s, of.charged, 100, 'b')
    await s.advance('2s')
    expect(of.calls.length - before).toBeLessThanOrEqual(22)
    const { entries } = await s.engine.triarch.audit.list({ subject: 'rate-limit:bank' })
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['rate-limit.restore', 'operator'],
      ['rate-limit.lift', 'ada'],
    ])
    expect((await limit.info()).changes.map(({ did, actor }) => [did, actor])).toEqual([
      ['lifted', 'ada'],
      ['restored', 'operator'],
    ])
  })

  it('are refused what makes no sense', async () => {
    await using of = await bank()
    const { s } = of
    await s.advance('200ms')
    const limit = s.engine.triarch.rateLimits.get('bank')
    expect(await codeOf(s.engine.triarch.rateLimits.get('nobody').info())).toBe('UNKNOWN_RATE_LIMIT')
    expect(await codeOf(s.engine.triarch.rateLimits.get('mail').lift(why))).toBe('UNKNOWN_RATE_LIMIT')
    expect(await codeOf(limit.change({ limit: 0, per: '1s', ...why }))).toBe('INVALID_OPTION')
    expect(await codeOf(limit.change({ limit: 1, per: 'soon' as never, ...why }))).toBe('INVALID_DURATION')
    expect(await codeOf(limit.change({ limit: 1, per: '1s', key: 1, ...why } as never))).toBe('UNKNOWN_OPTION')
    expect(await codeOf(limit.lift({ ...why, until: 'soon' as never }))).toBe('INVALID_OPTION')
    expect(await codeOf(limit.lift({} as never))).toBe('INVALID_OPTION')
    expect(await codeOf(s.engine.triarch.rateLimits.list({ limit: 0 }))).toBe('INVALID_OPTION')
  })
})
