import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect } from '@triarch/client'
import { describe, expect, it, vi } from 'vitest'
import { type Shop, shop } from './shop.ts'

const KEY = 'Bearer s3cret'
const authenticate = ({ headers }: Request) => (headers.get('authorization') === KEY ? { id: 'probe' } : null)

/** A node that has only just started leads in a moment. */
async function leading({ triarch }: Shop): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const taken = () => resolve()
  subscribe('triarch:leader:taken', taken)
  await triarch.start()
  await promise
  unsubscribe('triarch:leader:taken', taken)
}

interface Report {
  status: string
  checks: { name: string; status: string; since: string }[]
}

describe('the health of a server', () => {
  it('is told to probes without a word more than they need, and to those who may ask in full', async () => {
    await using s = await shop({ authenticate })
    await leading(s)
    expect(await s.json('GET', '/health/live')).toEqual({ status: 'ok' })
    expect(await s.json('GET', '/health/ready')).toEqual({ status: 'ok' })
    expect((await s.ask('GET', '/health')).status).toBe(401)
    const answer = await s.ask('GET', '/health', undefined, { authorization: KEY })
    const { status, checks } = (await answer.json()) as Report
    expect([answer.status, status]).toEqual([200, 'ok'])
    expect(checks.length).toBeGreaterThan(10)
    const some = await s.ask('GET', '/health?check=disk&check=leader', undefined, { authorization: KEY })
    expect(((await some.json()) as Report).checks.map(({ name }) => name)).toEqual(['disk', 'leader'])
    expect((await s.ask('GET', '/health?check=nothing', undefined, { authorization: KEY })).status).toBe(400)
  })

  it('is at its short path, too, and takes only what reads', async () => {
    await using s = await shop({ basePath: '/triarch' })
    await leading(s)
    const at = (path: string, method = 'GET') =>
      s.server.fetch(new Request(`http://localhost/triarch${path}`, { method }))
    for (const path of ['/health/live', '/health/ready', '/health']) expect((await at(path)).status, path).toBe(200)
    expect((await at('/health/live', 'POST')).status).toBe(405)
    expect((await at('/health/nothing')).status).toBe(404)
  })

  it('is 503 with the report where something is critical, or a warning if that is asked for', async () => {
    await using s = await shop({ unhealthyAt: 'warning' })
    // Nothing was started: nobody leads.
    const answer = await s.ask('GET', '/health')
    expect((await s.ask('GET', '/health?report=true')).status).toBe(200)
    expect([answer.status, ((await answer.json()) as Report).status]).toEqual([503, 'critical'])
    const { url, close } = await s.server.listen({ port: 0, signals: [] })
    const report = await connect(url).health.check({ checks: ['leader', 'disk'] })
    expect(report.checks.map(({ name, status }) => [name, status])).toEqual([['disk', 'ok'], ['leader', 'critical']]) // biome-ignore format: a row
    expect(report.checks[0]?.since).toBeInstanceOf(Date)
    await close()
  })

  it('is not ready once the process was asked to end, and serves on for the delay', async () => {
    await using s = await shop()
    await s.triarch.start()
    const others = process.listeners('SIGTERM')
    await s.server.listen({ port: 0, signals: ['SIGTERM'], shutdownDelay: '1h' })
    // The signal itself would end this process.
    const [end] = process.listeners('SIGTERM').filter((heard) => !others.includes(heard))
    expect((await s.ask('GET', '/health/ready')).status).toBe(200)
    end?.('SIGTERM')
    expect((await s.ask('GET', '/health/ready')).status).toBe(503)
    expect((await s.ask('GET', '/health/live')).status).toBe(200)
    const ended = new Promise((resolve) => {
      vi.spyOn(process, 'exit').mockImplementationOnce((code) => resolve(code) as never)
    })
    end?.('SIGTERM')
    expect(await ended).toBe(0)
    vi.restoreAllMocks()
    if (end) process.off('SIGTERM', end)
  })

  it('is not ready once the engine stops, and still alive', async () => {
    await using s = await shop()
    await s.triarch.start()
    await s.triarch.stop({ grace: 0 })
    expect((await s.ask('GET', '/health/ready')).status).toBe(503)
    expect((await s.ask('GET', '/health/live')).status).toBe(200)
  })
})
