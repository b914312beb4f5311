// Agents by WebSocket: what plain requests promise, and what comes with a connection.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer as createProxy, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentResponse, agent, connectAgents, type ServerMessage, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { describe, expect, it } from 'vitest'
import { WebSocket as Client } from 'ws'
import { createServer, type ServerOptions } from '../src/index.ts'

const heard: string[] = []
const gates = new Map<string, { entered: PromiseWithResolvers<void>; leave: PromiseWithResolvers<string> }>()
function gate(name: string) {
  const made = gates.get(name) ?? { entered: Promise.withResolvers<void>(), leave: Promise.withResolvers<string>() }
  gates.set(name, made)
  return made
}

const mail = agent('mail', { concurrency: 2_000 })
const send = mail.action('send', {
  run: async (to: string) => {
    heard.push(to)
    return `m-${to}`
  },
})
const wait = mail.action('wait', {
  run: async (name: string) => {
    heard.push(name)
    gate(name).entered.resolve()
    return gate(name).leave.promise
  },
})
const large = mail.action('large', { run: async (size: number) => 'x'.repeat(size), rescue: 'fail' })
const sending = workflow('send', { run: (to: string, task) => task.run(send, to) })
const waiting = workflow('wait', { run: (name: string, task) => task.run(wait, name) })
const many = workflow('many', {
  run: async (count: number, task) => {
    const sent = await Promise.all(Array.from({ length: count }, (_, i) => task.run(send, `${i} ${'x'.repeat(5_000)}`)))
    return sent.length
  },
})
const enlarging = workflow('large', { run: async (size: number, task) => (await task.run(large, size)).length })

async function serving(lease: '2s' | '10s' | '1m' = '10s', more: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-socket-'))
  const store = sqlite(join(folder, 'store.db'), { writer: 'inline' })
  const workflows = [sending, waiting, many, enlarging]
  const errors: unknown[] = []
  const triarch = new Triarch({ store, workflows, notices: false, lease, onError: (it) => errors.push(it) })
  await triarch.start()
  const server = createServer(triarch, { open: !more.authenticate, onError: (it) => errors.push(it), ...more })
  const { url } = await server.listen({ port: 0, signals: [] })
  return {
    ...{ triarch, server, url, errors, ws: `${url.replace('http', 'ws')}/api/v1/agents/exchange` },
    async [Symbol.asyncDispose]() {
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What stands between: it can cut connections, or hold all bytes of them, and counts requests for a WebSocket. */
async function proxy(url: string) {
  const { port } = new URL(url)
  const pairs = new Set<[Socket, Socket]>()
  let upgrades = 0
  const server = createProxy((near) => {
    const far = connect(Number(port), '127.0.0.1')
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    near.once('data', (data) => {
      if (/upgrade: websocket/i.test(String(data))) upgrades++
    })
    for (const socket of pair)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          pairs.delete(pair)
          for (const it of pair) it.destroy()
        })
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${address.port}`,
    upgrades: () => upgrades,
    cut() {
      for (const [near] of pairs) near.destroy()
    },
    /** Half-open: nobody hears anything, and nothing ends. */
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const hosting = async (url: string | string[], options: { webSocket?: boolean; token?: string } = {}) => {
  const connection = connectAgents(url, { agents: [mail], onError: () => undefined, ...options })
  await connection.connected
  return connection
}

describe('an agent by WebSocket', () => {
  it('does a step, on one connection', async () => {
    await using here = await serving()
    await using between = await proxy(here.url)
    await using _ = await hosting(between.url)
    expect(await (await here.triarch.submit(sending, 'ann')).result()).toBe('m-ann')
    expect(between.upgrades()).toBe(1)
    expect(here.errors).toEqual([])
  })

  it('is given more than one window of messages, and loses none', async () => {
    await using here = await serving()
    await using _ = await hosting(here.url)
    expect(await (await here.triarch.submit(many, 1_500)).result()).toBe(1_500)
  })

  it('is given what comes while it has not said that it saw what came before', async () => {
    await using here = await serving('1m')
    const client = new Client(here.ws)
    const given: string[] = []
    const told = new EventTarget()
    client.on('message', (data) => {
      for (const message of (JSON.parse(String(data)) as AgentResponse).messages)
        if (message.type === 'attempt') given.push(String(message.input))
        else if (message.type === 'welcome') session = message.session
      told.dispatchEvent(new Event('told'))
    })
    let session: string | undefined
    const until = async (holds: () => boolean) => {
      while (!holds()) await once(told, 'told')
    }
    await once(client, 'open')
    const offer = { name: 'mail', slots: 5, actions: ['mail.send'] }
    client.send(
      JSON.stringify({
        messages: [{ ...{ type: 'hello', protocol: 1, instance: 'x', count: 1 }, agents: [offer], running: [] }],
      }),
    )
    await until(() => session !== undefined)
    await here.triarch.submit(sending, 'first')
    await until(() => given.length === 1)
    // It lives, and says nothing of what it has seen: nothing more is heard of it.
    client.send(JSON.stringify({ session, messages: [] }))
    await once(told, 'told')
    await here.triarch.submit(sending, 'second')
    await until(() => given.length === 2)
    expect(given).toEqual(['first', 'second'])
    client.terminate()
  })

  it('is refused by a server that is closed, wherever its connection came from', async () => {
    await using here = await serving()
    const { createServer: http } = await import('node:http')
    const mounted = http(here.server.node)
    mounted.on('upgrade', (request, socket, head) => here.server.upgrade(request, socket, head))
    await once(mounted.listen(0, '127.0.0.1'), 'listening')
    const { port } = mounted.address() as { port: number }
    await here.server.close()
    const [error] = await once(new Client(`ws://127.0.0.1:${port}/api/v1/agents/exchange`), 'error')
    expect(String(error)).toContain('503')
    await once(mounted.close(), 'close')
  })

  it('goes on with what it runs when the connection is cut, and its answer counts', async () => {
    await using here = await serving()
    await using between = await proxy(here.url)
    await using _ = await hosting(between.url)
    const task = await here.triarch.submit(waiting, 'cut')
    await gate('cut').entered.promise
    between.cut()
    gate('cut').leave.resolve('survived')
    expect(await task.result()).toBe('survived')
    expect(heard.filter((it) => it === 'cut')).toHaveLength(1)
  })

  it('is taken for dead after a lease when its connection is half open', async () => {
    await using here = await serving('2s')
    await using between = await proxy(here.url)
    await using frozen = await hosting(between.url)
    const task = await here.triarch.submit(waiting, 'frozen')
    await gate('frozen').entered.promise
    between.freeze()
    const { leave } = gate('frozen')
    gates.delete('frozen')
    const second = gate('frozen')
    await using _ = await hosting(here.url)
    await second.entered.promise
    second.leave.resolve('elsewhere')
    leave.resolve('too late')
    expect(await task.result()).toBe('elsewhere')
    between.cut()
    await frozen.close({ grace: 0 })
  })

  it('says plainly what no frame may be as large as', async () => {
    await using here = await serving('10s', { limits: { bytes: 3_000 } })
    await using _ = await hosting(here.url)
    const task = await here.triarch.submit(enlarging, 5_000)
    for await (const { status } of task.watch()) if (status === 'paused') break
    expect((await task.status()).steps[0]?.error).toMatchObject({ message: expect.stringContaining('413') })
    expect(await (await here.triarch.submit(enlarging, 1_000)).result()).toBe(1_000)
  })

  it('is asked plainly where nobody takes a WebSocket', async () => {
    await using here = await serving()
    const { createServer: http } = await import('node:http')
    const mounted = http(here.server.node).listen(0, '127.0.0.1')
    await once(mounted, 'listening')
    await using _ = await hosting(`http://127.0.0.1:${(mounted.address() as { port: number }).port}`)
    expect(await (await here.triarch.submit(sending, 'plain')).result()).toBe('m-plain')
    await _.close()
    mounted.closeAllConnections()
    mounted.close()
  })

  it('is let in by its token alone', async () => {
    await using here = await serving('10s', {
      authenticate: ({ headers }) => (headers.get('authorization') === 'Bearer s3cret' ? { id: 'mail' } : null),
    })
    await using between = await proxy(here.url)
    await using _ = await hosting(between.url, { token: 's3cret' })
    expect(between.upgrades()).toBe(1)
    const stranger = new Client(here.ws)
    const [error] = await once(stranger, 'error')
    expect(String(error)).toContain('401')
  })

  it('has a quarter of the connections, so that one caller keeps no other out', async () => {
    const authenticate = ({ headers }: Request) => ({ id: headers.get('authorization') ?? '' })
    await using here = await serving('10s', { authenticate, limits: { connections: 8 } })
    const connected = async (authorization: string) => {
      const client = new Client(here.ws, 'triarch.v1', { headers: { authorization } })
      const [status] = await Promise.race([
        once(client, 'open').then(() => [101]),
        once(client, 'unexpected-response').then(([, { statusCode }]) => [statusCode]),
      ])
      return { client, status }
    }
    const own = [await connected('ann'), await connected('ann')]
    expect(own.map(({ status }) => status)).toEqual([101, 101])
    expect((await connected('ann')).status).toBe(503)
    const other = await connected('bob')
    expect(other.status).toBe(101)
    own[0]?.client.close()
    await expect.poll(async () => (await connected('ann')).status).toBe(101)
    for (const { client } of [...own, other]) client.terminate()
  })

  it('leaves for another server when its own stops, with what runs', async () => {
    await using first = await serving()
    await using second = await serving()
    await using _ = await hosting([first.url, second.url])
    expect(await (await first.triarch.submit(sending, 'first')).result()).toBe('m-first')
    await first.server.close()
    expect(await (await second.triarch.submit(sending, 'second')).result()).toBe('m-second')
  })
})

describe('a hostile connection', () => {
  const opened = async (url: string, options = {}) => {
    const client = new Client(url, options)
    await once(client, 'open')
    return client
  }
  const hello = {
    ...{ type: 'hello', protocol: 1, instance: 'hostile', count: 1, running: [] },
    agents: [{ name: 'mail', slots: 2_000, actions: ['mail.send', 'mail.wait'] }],
  }

  it.each([
    ['no JSON', '{'],
    ['no request', '[]'],
    ['an unknown message', '{"messages":[{"type":"steal"}]}'],
    ['JSON that is nested too deep', '['.repeat(200)],
    ['a frame that is too large', 'x'.repeat(2_000_000)],
    ['bytes', Buffer.from([1, 2, 3])],
  ])('is ended for %s', async (_, frame) => {
    await using here = await serving()
    const client = await opened(here.ws)
    client.on('error', () => undefined)
    client.send(frame)
    const [code] = await once(client, 'close')
    expect([1_003, 1_008, 1_009]).toContain(code)
    expect(here.errors).toEqual([])
  })

  it.each([
    ['elsewhere', '/api/v1/tasks', {}, 404],
    ['from a page of another origin', '/api/v1/agents/exchange', { origin: 'https://evil.example.com' }, 403],
    ['by a name that leads here', '/api/v1/agents/exchange', { headers: { host: 'evil.example.com' } }, 421],
  ])('is refused %s', async (_, path, options, status) => {
    await using here = await serving()
    const client = new Client(`${here.url.replace('http', 'ws')}${path}`, options)
    const [error] = await once(client, 'error')
    expect(String(error)).toContain(String(status))
  })

  it('that never says what it has seen is told no more than a window', async () => {
    await using here = await serving('1m')
    const client = await opened(here.ws)
    const frames: string[] = []
    client.on('message', (data) => frames.push(String(data)))
    client.send(JSON.stringify({ messages: [hello] }))
    while (frames.length === 0) await once(client, 'message')
    const task = await here.triarch.submit(many, 1_500)
    // It never says that it saw anything.
    const count = () => frames.flatMap((it) => (JSON.parse(it) as AgentResponse).messages).length
    while (count() < 150) await once(client, 'message')
    const { messages } = (await here.triarch.serving.remoteAgents().exchange({ messages: [] })) satisfies AgentResponse
    expect(messages).toEqual([{ type: 'reset' }] satisfies ServerMessage[])
    expect(count()).toBeLessThanOrEqual(501)
    client.terminate()
    await task.cancel({ force: true })
  })
})
