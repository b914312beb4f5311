import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Triarch } from 'triarch'
import { memory } from 'triarch/testing'
import { describe, expect, it } from 'vitest'
import { createServer, type ServerOptions } from '../src/index.ts'
import { shop } from './shop.ts'

const idle = () => new Triarch({ store: memory(), notices: false })

/** What a server answers to these bytes, until it closes the connection. */
async function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.end(bytes)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text
  })
  await once(socket, 'close')
  return answer
}

/** A connection on which this was said; the system may have cut it meanwhile. */
async function opened(url: string, said?: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  await once(socket, 'connect')
  if (said === undefined) socket.resume()
  else socket.write(said)
  return socket
}

const asking = (path: string, more = 'Connection: close\r\n') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`

describe('a server that listens', () => {
  it('is refused on any host but loopback, unless somebody says who asks', async () => {
    await using server = createServer(idle())
    for (const host of ['0.0.0.0', '::', 'example.com', '192.168.0.1'])
      await expect(server.listen({ host, signals: [] })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await using guarded = createServer(idle(), { authenticate: () => null })
    const { url } = await guarded.listen({ host: '0.0.0.0', port: 0, signals: [] })
    expect((await fetch(url.replace('0.0.0.0', '127.0.0.1').concat('/api/v1/tasks'))).status).toBe(401)
  })

  it('answers to the names of loopback only, where nobody is asked who they are', async () => {
    await using here = await shop()
    const { url } = await here.server.listen({ port: 0, signals: [] })
    const { port } = new URL(url)
    const as = (host: string) => raw(url, `GET /api/v1/tasks HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(await as(`localhost:${port}`)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await as('[::1]')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await as(`rebound.example:${port}`)).toMatch(/^HTTP\/1\.1 421 [\s\S]*MISDIRECTED/)
    expect(await as('127.0.0.1.example')).toMatch(/^HTTP\/1\.1 421 /)
  })

  it.each([
    ['a path without a slash', 'GET api HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['no host', 'GET /api/v1/tasks HTTP/1.1\r\n\r\n'],
    ['a host that is none', 'GET /api/v1/tasks HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['headers without an end', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    [
      'two lengths',
      'POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    ],
    [
      'a length and chunks',
      'POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no HTTP at all', '\x16\x03\x01\x02\x00'],
    ['another scheme', 'GET file:///etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('refuses and goes on: %s', async (_, bytes) => {
    await using here = await shop()
    const { url } = await here.server.listen({ port: 0, signals: [] })
    expect(await raw(url, bytes)).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/)
    expect((await fetch(`${url}/api/v1/tasks`)).status).toBe(200)
    expect(here.errors).toEqual([])
  })

  it('lets a new connection take the place of the one that was silent the longest, so that nobody fills it by saying nothing', async () => {
    await using here = await shop({ limits: { connections: 4 } })
    const { url } = await here.server.listen({ port: 0, signals: [] })
    const silent = await Promise.all(Array.from({ length: 4 }, () => opened(url)))
    const cut = once(silent[0] as Socket, 'close')
    // One after the other, each on a connection of its own.
    for (let n = 0; n < 3; n++) expect(await raw(url, asking('/api/v1/stats'))).toMatch(/^HTTP\/1\.1 200 /)
    await cut
    expect((silent[3] as Socket).destroyed).toBe(false)
    for (const socket of silent) socket.destroy()
  })

  it('lets a new connection take the place of one whose request does not come to its end, so that nobody fills it by beginning to send', async () => {
    await using here = await shop({ limits: { connections: 4 } })
    const { url } = await here.server.listen({ port: 0, signals: [] })
    const more = 'Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n'
    const begun = asking('/api/v1/tokens', more).replace('GET', 'POST')
    const slow = await Promise.all(Array.from({ length: 4 }, () => opened(url, begun)))
    // The server has each request, and asks for the rest.
    for (const socket of slow) expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /)
    const cut = new Promise((resolve) => slow.map((socket) => socket.resume().once('close', resolve)))
    for (let n = 0; n < 3; n++) {
      const [answer] = await once(await opened(url, asking('/api/v1/stats')), 'data')
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
    }
    await cut
    expect(here.errors).toEqual([])
    for (const socket of slow) socket.destroy()
  })

  it('says how it is while all its connections are being answered, and tells others that there is no room', async () => {
    await using here = await shop({ limits: { connections: 3 } })
    await here.triarch.start()
    const { url } = await here.server.listen({ port: 0, signals: [] })
    const streams = await Promise.all(Array.from({ length: 3 }, () => opened(url, asking('/api/v1/tasks/events'))))
    for (const stream of streams) await once(stream, 'data')
    for (const path of ['/health/live', '/health/ready', '/api/v1/health/live'])
      expect(await raw(url, asking(path)), path).toMatch(/^HTTP\/1\.1 200 /)
    const refused = await raw(url, asking('/api/v1/stats'))
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    expect(refused).toContain('TOO_MANY_CONNECTIONS')
    expect(refused).toMatch(/\r\nretry-after: 1\r\n/i)
    const socket = await raw(url, asking('/api/v1/agents/exchange', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'))
    expect(socket).toMatch(/^HTTP\/1\.1 503 /)
    // Silent ones beyond that take no place from who asks.
    const silent = await Promise.all(Array.from({ length: 30 }, () => opened(url)))
    expect(await raw(url, asking('/health/live'))).toMatch(/^HTTP\/1\.1 200 /)
    streams[0]?.destroy()
    await expect.poll(() => raw(url, asking('/api/v1/stats'))).toMatch(/^HTTP\/1\.1 200 /)
    for (const one of [...streams, ...silent]) one.destroy()
  })

  it('ends a wait when it closes, answers it, and takes no more', async () => {
    await using here = await shop()
    await here.triarch.start()
    const { url, close } = await here.server.listen({ port: 0, signals: [] })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ workflow: 'approval', id: 'open' })
    const waits = fetch(`${url}/api/v1/tasks?wait=1m`, { method: 'POST', headers, body })
    await expect.poll(async () => (await fetch(`${url}/api/v1/tasks/open`)).status).toBe(200)
    await close()
    expect((await waits).status).toBe(202)
    await expect(fetch(`${url}/api/v1/tasks`)).rejects.toThrow()
    await expect(here.server.listen()).rejects.toMatchObject({ code: 'NODE_STOPPED' })
  })

  it('ends a stream when it closes with its last event, and its connection with that', async () => {
    await using here = await shop()
    const { url, close } = await here.server.listen({ port: 0, signals: [] })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).setEncoding('utf8')
    socket.write('GET /api/v1/stats/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    let told = ''
    socket.on('data', (text) => {
      told += text
    })
    // The server's side ends it: this one is not asked for anything, and waits for no timeout.
    const ended = once(socket, 'end')
    await Promise.all([close(), ended])
    expect(told).toContain('event: end\ndata: {"code":"STOPPING","again":true}')
  })

  it('lets go of a wait whose client has gone', async () => {
    await using here = await shop({ limits: { waiting: 1 } })
    await here.triarch.start()
    const { url } = await here.server.listen({ port: 0, signals: [] })
    await here.ask('POST', '/tasks', { workflow: 'approval', id: 'gone' })
    const gone = new AbortController()
    const first = fetch(`${url}/api/v1/tasks/gone?wait=1m`, { signal: gone.signal })
    gone.abort()
    await expect(first).rejects.toThrow()
    // The only place is free again: this wait hears the end.
    const second = here.ask('GET', '/tasks/gone?wait=1m')
    await here.ask('POST', '/tasks/gone/signal', { name: 'decided', payload: { by: 'eve' } })
    await expect
      .poll(async () => ((await here.json('GET', '/tasks/gone')) as { outcome: string }).outcome)
      .toBe('success')
    expect((await second).status).toBe(200)
  })

  it('drains on SIGTERM, stops the engine, and exits with 0', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-listen-'))
    try {
      const args = [join(import.meta.dirname, 'listen.process.ts'), join(folder, 'store.db')]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const exit = once(child, 'exit')
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ workflow: 'never', id: 'n' })
      const waits = fetch(`${url}/api/v1/tasks?wait=1m`, { method: 'POST', headers, body })
      await expect.poll(async () => (await fetch(`${url}/api/v1/tasks/n`)).status).toBe(200)
      child.kill('SIGTERM')
      expect((await waits).status).toBe(202)
      expect(await exit).toEqual([0, null])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('serves as before for a while after SIGTERM, while readiness says that it leaves; another signal ends that', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-listen-'))
    try {
      const args = [join(import.meta.dirname, 'listen.process.ts'), join(folder, 'store.db'), '1h']
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const exit = once(child, 'exit')
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
      const ready = async () => (await fetch(`${url}/health/ready`)).status
      expect(await ready()).toBe(200)
      child.kill('SIGTERM')
      await expect.poll(ready).toBe(503)
      expect((await fetch(`${url}/health/live`)).status).toBe(200)
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ workflow: 'never', id: 'late' })
      expect((await fetch(`${url}/api/v1/tasks`, { method: 'POST', headers, body })).status).toBe(201)
      child.kill('SIGTERM')
      expect(await exit).toEqual([0, null])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it.each([
    [{ workflow: [] }, 'UNKNOWN_OPTION'],
    [{ workflows: [1] }, 'INVALID_OPTION'],
    [{ authenticate: 'me' }, 'INVALID_OPTION'],
    [{ open: 'yes' }, 'INVALID_OPTION'],
    [{ open: ['tasks.internal:80'] }, 'INVALID_OPTION'],
    [{ basePath: 'triarch' }, 'INVALID_OPTION'],
    [{ origins: ['example.com'] }, 'INVALID_OPTION'],
    [{ limits: { bytes: 0 } }, 'INVALID_OPTION'],
    [{ limits: { body: 1 } }, 'UNKNOWN_OPTION'],
    [{ onError: 1 }, 'INVALID_OPTION'],
  ])('has no options like %j', (options, code) => {
    expect(() => createServer(idle(), options as unknown as ServerOptions)).toThrow(expect.objectContaining({ code }))
  })

  it.each([{ port: -1 }, { port: 1.5 }, { host: '' }, { signals: 'SIGTERM' }, { hostname: 'x' }])(
    'listens nowhere like %j',
    async (where) => {
      await using server = createServer(idle())
      await expect(server.listen(where as object)).rejects.toMatchObject({ code: expect.stringMatching(/OPTION$/) })
    },
  )
})
