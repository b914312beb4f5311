import { createServer } from '@triarch/server'
import { Triarch } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../src/index.ts'

let well = false
const rule = { for: 0, keep: 1 }
let tried = 0
const sinks = [
  { name: 'desk', send: () => void tried++ },
  { name: 'ill', send: () => Promise.reject(new Error('no route')) },
]
const triarch = new Triarch({
  store: memory(),
  ...{ notices: false, onError: () => undefined, sweep: '50ms' },
  alerts: { every: '50ms', rules: { check: rule }, sinks },
  health: { checks: { 'bank.a': () => well } },
})
const server = createServer(triarch, { open: true })
let lost = false
const client = connect('http://localhost', {
  retry: { first: 1 },
  async fetch(url: string, init: RequestInit) {
    const answer = await server.fetch(new Request(url, init))
    if (!lost || init.method !== 'POST') return answer
    lost = false
    throw new TypeError('fetch failed')
  },
})
const name = 'check:bank.a'
const why = { reason: 'a test', actor: 'ada' }
const word = { ...why, at: expect.any(Date) }
const codeOf = (doing: Promise<unknown>) =>
  doing.then(
    () => '',
    ({ code }) => code,
  )

beforeAll(() => triarch.start())
afterAll(() => triarch.stop())

describe('alerts on a server', () => {
  it('are listed, taken in hand, silenced and ended: with why and by whom', async () => {
    await expect
      .poll(async () => (await client.alerts.list()).alerts.map((it) => it.name), { timeout: 15_000 })
      .toEqual([name])
    const alert = client.alerts.get(name)
    await expect.poll(async () => (await alert.info()).toldAt, { timeout: 15_000 }).toBeInstanceOf(Date)
    const own = await alert.info()
    expect(own).toEqual(await triarch.alerts.get(name).info())
    expect(own).toMatchObject({ rule: 'check', subject: 'bank.a', phase: 'firing', owner: undefined })
    expect((await alert.acknowledge(why)).owner).toEqual(word)
    const until = new Date('2999-01-01T00:00:00Z')
    expect((await alert.silence({ ...why, until })).silence).toEqual({ ...word, until })
    lost = true
    expect(await alert.end(why)).toMatchObject({ phase: 'ended', endedAt: expect.any(Date), endedBy: word })
    well = true
    await expect.poll(async () => (await client.alerts.list()).alerts, { timeout: 15_000 }).toEqual([])
    expect((await client.alerts.list({ ended: true, limit: 1 })).alerts).toMatchObject([{ name, endedBy: word }])
    expect((await triarch.audit.list()).entries.map(({ action }) => action)).toEqual([
      'alert.end',
      'alert.silence',
      'alert.acknowledge',
    ])
  })

  it('have sinks that are tried, one or all, and say what each answered', async () => {
    const before = tried
    const ms = expect.any(Number)
    expect(await client.alerts.test({ sink: 'desk', ...why })).toEqual([{ sink: 'desk', ok: true, ms }])
    expect(await client.alerts.test()).toEqual([
      { sink: 'log', ok: true, ms },
      { sink: 'desk', ok: true, ms },
      { sink: 'ill', ok: false, ms, problem: 'no route' },
    ])
    expect(tried - before).toBe(2)
    const { entries } = await triarch.audit.list({ action: 'alert.test' })
    expect(entries.map(({ actor, subject, reason }) => [actor, subject, reason])).toEqual([
      ['operator', 'sink:*', undefined],
      ['ada', 'sink:desk', 'a test'],
    ])
    expect(await codeOf(client.alerts.test({ sink: 'other' }))).toBe('INVALID_OPTION')
    expect(await codeOf(client.alerts.test({ only: 'desk' } as never))).toBe('UNKNOWN_OPTION')
  })

  it('that are none, and acts that make no sense, are refused', async () => {
    expect(await codeOf(client.alerts.get('check:nothing').info())).toBe('UNKNOWN_ALERT')
    expect(await codeOf(client.alerts.get('check:nothing').end(why))).toBe('UNKNOWN_ALERT')
    expect(await codeOf(client.alerts.get(name).acknowledge({} as never))).toBe('INVALID_OPTION')
    expect(await codeOf(client.alerts.get(name).acknowledge({ ...why, by: 'me' } as never))).toBe('UNKNOWN_OPTION')
    expect(await codeOf(client.alerts.list({ limit: 0 }))).toBe('INVALID_OPTION')
    expect(await codeOf(client.alerts.list({ since: 1 } as never))).toBe('UNKNOWN_OPTION')
    expect(() => client.alerts.get('x'.repeat(501))).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
