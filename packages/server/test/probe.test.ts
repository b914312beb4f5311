import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Triarch } from 'triarch'
import { memory } from 'triarch/testing'
import { describe, expect, it } from 'vitest'
import {
  createProber,
  createServer as createTriarchServer,
  type ProbeChange,
  type ProbedEndpoint,
} from '../src/index.ts'
import { expired, good, key } from './certificate.ts'

/** A real server that answers as it is told at the moment. */
async function served(answer: RequestListener, tls?: { cert: string; key: string }) {
  const told = { answer }
  const listener: RequestListener = (incoming, outgoing) => told.answer(incoming, outgoing)
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { told, url: `http${tls ? 's' : ''}://localhost:${port}`, close, [Symbol.asyncDispose]: close }
}

const says =
  (status: number, body = ''): RequestListener =>
  (_, outgoing) =>
    void outgoing.writeHead(status).end(body)
const one = (url: string, endpoint: Partial<ProbedEndpoint> = {}) =>
  createProber({ endpoints: { it: { url, ...endpoint } } })
const problemOf = async (url: string, endpoint: Partial<ProbedEndpoint> = {}) => {
  const { problem } = await one(url, endpoint).probe('it')
  return problem?.code
}

describe('a probe', () => {
  it('tells what was answered, from where, and how long it took', async () => {
    await using server = await served(says(204))
    const result = await one(server.url, { addresses: ['127.0.0.1'] }).probe('it')
    const { status, address, ms, problem, redirects, at } = result
    expect({ status, address, problem, redirects }).toEqual({ status: 204, address: '127.0.0.1', redirects: [] })
    expect([ms >= 0, at instanceof Date]).toEqual([true, true])
  })

  it('says what is wrong with the answer', async () => {
    await using server = await served(says(500, 'out of stock'))
    const { url } = server
    expect(await problemOf(url)).toBe('status')
    expect(await problemOf(url, { status: [500] })).toBeUndefined()
    expect(await problemOf(url, { status: [500], contains: 'stock' })).toBeUndefined()
    expect(await problemOf(url, { status: [500], contains: /^stock/ })).toBe('content')
    expect(await problemOf(url, { addresses: ['192.0.2.1'] })).toBe('address')
  })

  it('says that nobody answers: no name, no listener, no answer in time, a cut connection', async () => {
    await using server = await served(() => undefined)
    expect(await problemOf('http://nothing.invalid/')).toBe('dns')
    expect(await problemOf(server.url, { timeout: 50 })).toBe('timeout')
    server.told.answer = (incoming) => void incoming.socket.destroy()
    expect(await problemOf(server.url)).toBe('connect')
    await server.close()
    expect(await problemOf(server.url)).toBe('connect')
  })

  it('reads no more of a body than its bound, however long that is', async () => {
    await using server = await served((_, outgoing) => {
      outgoing.writeHead(200)
      const more = (): void => void outgoing.write('x'.repeat(64 * 1024), (error) => error ?? more())
      more()
    })
    expect(await problemOf(server.url, { contains: 'x' })).toBeUndefined()
  })

  it('follows redirects to the same host as far as it may, and none elsewhere', async () => {
    const ways: Record<string, string> = { '/': '/a', '/a': '/b', '/away': 'http://127.0.0.1:1/', '/odd': 'http://' }
    await using server = await served((incoming, outgoing) => {
      const location = ways[incoming.url ?? '']
      outgoing.writeHead(location ? 302 : 200, location ? { location } : {}).end()
    })
    const { url } = server
    expect(await problemOf(url)).toBe('status')
    const { status, redirects } = await one(url, { redirects: 2 }).probe('it')
    expect([status, redirects]).toEqual([200, [`${url}/a`, `${url}/b`]])
    expect(await problemOf(url, { redirects: 1 })).toBe('redirect')
    expect(await problemOf(`${url}/away`, { redirects: 5 })).toBe('redirect')
    expect(await problemOf(`${url}/odd`, { redirects: 5 })).toBe('redirect')
  })

  it('sends its headers to no other port of the same host: a redirect there is a problem', async () => {
    const heard: unknown[] = []
    await using other = await served(({ headers }, outgoing) => {
      heard.push(headers.authorization)
      outgoing.end()
    })
    await using server = await served((_, outgoing) => void outgoing.writeHead(302, { location: other.url }).end())
    const given = { redirects: 5, headers: { authorization: 'Bearer s3cret' } }
    expect(await problemOf(server.url, given)).toBe('redirect')
    expect(heard).toEqual([])
  })

  it('looks at the certificate: who vouches for it, and until when it is good', async () => {
    await using server = await served(says(200), { cert: good, key })
    const { certificateUntil, problem } = await one(server.url, { ca: good }).probe('it')
    expect([problem, certificateUntil]).toEqual([undefined, new Date('2100-01-01')])
    expect(await problemOf(server.url)).toBe('certificate')
    expect(await problemOf(server.url, { ca: good, certificateDays: 36_500 })).toBe('certificate')
    await using old = await served(says(200), { cert: expired, key })
    expect(await problemOf(old.url, { ca: expired })).toBe('certificate')
    await using open = await served(says(200))
    expect(await problemOf(open.url.replace('http:', 'https:'))).toBe('tls')
  })

  it('reads how another Triarch is', async () => {
    await using triarch = new Triarch({ store: memory(), notices: false })
    const report = createTriarchServer(triarch, { open: true })
    await using server = await served((incoming, outgoing) => void report.node(incoming, outgoing))
    // Nothing was started there: nobody leads.
    const { problem } = await one(`${server.url}/health`, { triarch: 'critical' }).probe('it')
    expect(problem).toMatchObject({ code: 'health', message: expect.stringContaining('leader: no supervisor leads') })
    expect(await problemOf(`${server.url}/health?check=disk`, { triarch: 'warning' })).toBeUndefined()
    expect(await problemOf(`${server.url}/api/v1/stats`, { triarch: 'critical' })).toBe('status')
    server.told.answer = says(200, '{"status":"warning"}')
    expect(await problemOf(server.url, { triarch: 'critical' })).toBeUndefined()
    expect(await problemOf(server.url, { triarch: 'warning' })).toBe('health')
  })
})

describe('a prober', () => {
  it('says once that an endpoint is down, and once that it is up again, and nothing of a stumble', async () => {
    await using server = await served(says(200))
    const changes: ProbeChange[] = []
    const endpoints = { shop: { url: server.url, failures: 3, successes: 2 } }
    const prober = createProber({ endpoints, onChange: (change) => changes.push(change) })
    const times = async (count: number, status: number) => {
      server.told.answer = says(status)
      for (let i = 0; i < count; i++) await prober.probe('shop')
      return prober.endpoints()[0]?.state
    }
    expect(prober.endpoints()[0]).toMatchObject({ state: 'unknown', streak: 0 })
    const seen = [
      ...[await times(1, 200), await times(2, 500), await times(1, 200), await times(2, 500), changes.length],
      ...[await times(1, 500), await times(3, 500), await times(1, 200), await times(1, 500), changes.length],
      ...[await times(2, 200), changes.length],
    ]
    expect(seen).toEqual(['up', 'up', 'up', 'up', 0, 'down', 'down', 'down', 'down', 1, 'up', 2])
    expect(changes.map(({ name, from, to, problem }) => [name, from, to, problem?.code])).toEqual([
      ['shop', 'up', 'down', 'status'],
      ['shop', 'down', 'up', undefined],
    ])
  })

  it('keeps so many results of each, and shows the health of a Triarch how they are', async () => {
    await using server = await served(says(500))
    const prober = createProber({ endpoints: { shop: { url: server.url, failures: 2 } }, history: 3 })
    const health = { checks: prober.checks(), cache: 0 }
    await using triarch = new Triarch({ store: memory(), notices: false, health })
    const status = async () => (await triarch.health.check({ checks: ['probe.shop'] })).status
    await prober.probe('shop')
    expect(await status()).toBe('ok')
    for (let i = 0; i < 5; i++) await prober.probe('shop')
    expect(prober.history('shop')).toHaveLength(3)
    expect(await status()).toBe('critical')
  })

  it('runs until it is told to stop; an endpoint that hangs and a listener that throws hold nobody up', async () => {
    await using hanging = await served(() => undefined)
    await using server = await served(says(500))
    const stop = new AbortController()
    const { promise: told, resolve } = Promise.withResolvers<ProbeChange>()
    const { promise: thrown, resolve: hear } = Promise.withResolvers<unknown>()
    const prober = createProber({
      endpoints: { hangs: { url: hanging.url }, shop: { url: server.url, failures: 1 } },
      onChange(change) {
        resolve(change)
        throw new Error('pager is out')
      },
      onError: hear,
    })
    const running = prober.run(stop.signal)
    expect(prober.run(stop.signal)).toBe(running)
    expect(await told).toMatchObject({ name: 'shop', from: 'unknown', to: 'down' })
    expect(String(await thrown)).toBe('Error: pager is out')
    stop.abort()
    await running
    // What was cut off says nothing.
    expect(prober.history('hangs')).toEqual([])
  })

  it('refuses what it cannot watch', () => {
    const url = 'https://shop.example.com/'
    const wrong: [object, string][] = [
      [{}, 'INVALID_OPTION'],
      [{ 'a b': { url } }, 'INVALID_OPTION'],
      [{ a: { url: 'ftp://x/' } }, 'INVALID_OPTION'],
      [{ a: { url: 'https://u:p@x/' } }, 'INVALID_OPTION'],
      [{ a: { url, every: 1 } }, 'INVALID_OPTION'],
      [{ a: { url, redirects: 11 } }, 'INVALID_OPTION'],
      [{ a: { url, contains: 1 } }, 'INVALID_OPTION'],
      [{ a: { url, triarch: 'ok' } }, 'INVALID_OPTION'],
      [{ a: { url, retries: 1 } }, 'UNKNOWN_OPTION'],
    ]
    for (const [endpoints, code] of wrong) {
      const make = () => createProber({ endpoints } as never)
      expect(make, JSON.stringify(endpoints)).toThrow(expect.objectContaining({ code }))
    }
    const prober = createProber({ endpoints: { a: { url } } })
    expect(() => prober.history('b')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
