// A server that is mounted instead of listening: who may reach it where nobody is asked who they are.
import { once } from 'node:events'
import { request as ask, createServer as http } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Triarch } from 'triarch'
import { memory } from 'triarch/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createServer, type ServerOptions, type TriarchServer } from '../src/index.ts'

const PATH = '/api/v1/agents/exchange'

function created(options: ServerOptions): TriarchServer {
  const triarch = new Triarch({ store: memory(), notices: false })
  const server = createServer(triarch, options)
  onTestFinished(async () => {
    await server.close()
    await triarch.stop({ grace: 0 })
  })
  return server
}

/** The port of a node:http server that hands requests and connections to this one. */
async function mounted(server: TriarchServer): Promise<number> {
  const outer = http(server.node)
    .on('upgrade', (request, socket, head) => server.upgrade(request, socket, head) || socket.destroy())
    .listen(0, '127.0.0.1')
  onTestFinished(async () => {
    outer.closeAllConnections()
    await once(outer.close(), 'close')
  })
  await once(outer, 'listening')
  return (outer.address() as AddressInfo).port
}

/** How one way into a server answers a request that names this host: its status. */
const ways: Record<string, (server: TriarchServer, host: string) => Promise<number>> = {
  fetch: async (server, host) =>
    (await server.fetch(new Request('http://127.0.0.1/api/v1/stats', { headers: { host } }))).status,
  async node(server, host) {
    const sent = ask({ port: await mounted(server), path: '/api/v1/stats', headers: { host } }).end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    return answer.statusCode
  },
  async upgrade(server, host) {
    const client = new WebSocket(`ws://127.0.0.1:${await mounted(server)}${PATH}`, 'triarch.v1', { headers: { host } })
    const { promise, resolve } = Promise.withResolvers<number>()
    client.on('open', () => resolve(200))
    client.on('error', () => undefined)
    client.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
    onTestFinished(() => client.terminate())
    return promise
  },
}

describe('a mounted server that asks nobody who they are', () => {
  it.each([{}, { open: false }])('refuses to be mounted by fetch and by node unless it is told open: %j', (options) => {
    const server = created(options)
    const refused = expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('open: true'),
    })
    expect(() => server.fetch).toThrow(refused)
    expect(() => server.node).toThrow(refused)
  })

  it('refuses connections of agents that are handed to upgrade() unless it is told open', async () => {
    const server = created({})
    const outer = http().on('upgrade', (request, socket, head) => server.upgrade(request, socket, head))
    await once(outer.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(async () => void (await once(outer.close(), 'close')))
    const client = new WebSocket(`ws://127.0.0.1:${(outer.address() as AddressInfo).port}${PATH}`, 'triarch.v1')
    client.on('error', () => undefined)
    const [, { statusCode }] = await once(client, 'unexpected-response')
    client.terminate()
    expect(statusCode).toBe(421)
  })

  it('listens on loopback without being told open', async () => {
    const { url } = await created({}).listen({ port: 0, signals: [] })
    expect((await fetch(`${url}/api/v1/stats`)).status).toBe(200)
  })

  it.each([
    { open: true, keys: true },
    { open: ['tasks.internal'], authenticate: () => ({ id: 'ada' }) },
  ])('is not told open where somebody is asked: %j', (options) => {
    expect(() => created(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})

describe.each(Object.keys(ways))('mounted by %s and told open', (name) => {
  const way = ways[name] as (typeof ways)[string]

  it.each([
    'localhost',
    'LocalHost:8080',
    '127.0.0.1:8080',
    '127.7.7.7',
    '[::1]:8080',
    '192.168.0.7',
    '[2001:db8::7]:80',
  ])('a server answers to names of loopback and to IP addresses: %s', async (host) => {
    expect(await way(created({ open: true }), host)).toBe(200)
  })

  it.each(['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', 'localhost.evil.example', 'tasks.internal'])(
    'a server refuses a name that somebody else may lead to its address: %s',
    async (host) => {
      expect(await way(created({ open: true }), host)).toBe(421)
    },
  )

  it('a server answers to the names that it was told, and to no others', async () => {
    expect(await way(created({ open: ['Tasks.Internal'] }), 'tasks.internal:8080')).toBe(200)
    expect(await way(created({ open: ['tasks.internal'] }), 'a.tasks.internal')).toBe(421)
    expect(await way(created({ open: ['tasks.internal'] }), 'localhost')).toBe(200)
  })

  it('a server with keys is asked by any name, and answers those that have one', async () => {
    expect(await way(created({ keys: true }), 'tasks.example.com')).toBe(401)
    expect(await way(created({ authenticate: () => ({ id: 'ada' }) }), 'tasks.example.com')).toBe(200)
  })
})

it('a request by a name that is not known here is MISDIRECTED, and changes nothing', async () => {
  const server = created({ open: true })
  const request = new Request('http://127.0.0.1/api/v1/cache/invalidate', {
    ...{ method: 'POST', body: '{"tag":"x"}' },
    headers: { host: 'evil.example', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
  })
  const answer = await server.fetch(request)
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([421, 'MISDIRECTED'])
})
