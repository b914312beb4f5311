// Push agents against real endpoints, some of which mean no good.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createEndpoint, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import {
  type Middleware,
  middleware,
  PermanentError,
  TransientError,
  Triarch,
  TriarchError,
  UnknownOutcomeError,
  workflow,
} from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServer } from '../src/index.ts'
import { Networks } from '../src/outbound/network.ts'
import { NoAnswer, Outbound } from '../src/outbound/outbound.ts'
import { answeredNow, lossOf, outputOf, verificationOf } from '../src/push/answer.ts'
import { type HttpActionOptions, httpAgent, type OutboundOptions } from '../src/push/index.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM='
const local: OutboundOptions = { schemes: ['http'], allow: ['127.0.0.0/8', '::1'] }

interface Heard {
  type: string
  data: Record<string, unknown> & { operation: string; input: unknown; token: string; signal?: { name: string } }
  headers: IncomingMessage['headers']
}
type Answering = (heard: Heard, response: ServerResponse, request: IncomingMessage) => unknown

/** An endpoint that takes nothing that is not signed. */
async function endpoint(answer: Answering) {
  const heard: Heard[] = []
  const server = createEndpoint(async (request, response) => {
    const body = await text(request)
    const { type, data } = new Webhook(secret).verify(body, request.headers as Record<string, string>) as Heard
    heard.push({ type, data, headers: request.headers })
    const told = await answer({ type, data, headers: request.headers }, response, request)
    if (told !== undefined) response.end(JSON.stringify(told))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ heard, port, url: `http://127.0.0.1:${port}/hook`, outbound: { ...local, ports: [port] } },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const policies = { retry: { attempts: 3, backoff: { initial: '1ms' } }, rescue: 'fail' } as const

/** An engine with the endpoint's agent, and a server for its tokens. */
async function world(
  url: string,
  outbound: OutboundOptions,
  action: HttpActionOptions = {},
  around: Middleware[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-push-'))
  const { agent, actions } = httpAgent('crm', {
    url,
    secret,
    outbound,
    actions: { upsert: { ...policies, ...action } },
  })
  const flow = workflow('flow', { run: (input: unknown, task) => task.run(actions.upsert, input), rescue: 'fail' })
  const undone = workflow('undone', {
    run: async (input: unknown, task) => {
      await task.run(actions.upsert, input, { rescue: 'compensate' })
      throw new Error('and now all back')
    },
  })
  const store = sqlite(join(folder, 'store.db'), { writer: 'inline' })
  const given = { store, workflows: [flow, undone], agents: [agent], middleware: around }
  const triarch = new Triarch({ ...given, notices: false, poll: '20ms' })
  await triarch.start()
  const server = createServer(triarch, { open: true })
  return {
    ...{ triarch, flow, undone, server },
    async [Symbol.asyncDispose]() {
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

describe('a push agent', () => {
  it('is asked by a signed POST, and what it answers is the output', async () => {
    await using there = await endpoint(() => ({ id: 'c-1' }))
    await using here = await world(there.url, there.outbound)
    const task = await here.triarch.submit(here.flow, { name: 'ann' }, { id: 't-1', metadata: { shop: 'a' } })
    expect(await task.result()).toEqual({ id: 'c-1' })
    const [{ type, data, headers } = expect.fail('nothing was heard')] = there.heard
    expect(type).toBe('attempt.run')
    expect(data).toMatchObject({
      agent: 'crm',
      action: 'crm.upsert',
      operation: 'run',
      number: 1,
      task: 't-1',
      step: 1,
    })
    expect(data).toMatchObject({
      input: { name: 'ann' },
      idempotencyKey: expect.stringMatching(/^t-1~\w+:1$/),
      metadata: { shop: 'a' },
    })
    expect(headers['idempotency-key']).toMatch(/^t-1~\w+:1$/)
  })

  it('is told where it is in a trace by headers, as the metadata has it when it is called', async () => {
    const trace = {
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      tracestate: 'v=1',
      baggage: 'tenant=acme',
    }
    await using there = await endpoint(() => null)
    const nearer = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`
    const near = middleware('near', {
      run(call, next) {
        call.metadata.traceparent = nearer
        return next()
      },
      undo(call, next) {
        call.metadata.baggage = 'no\r\nheader: 1'
        return next()
      },
    })
    await using here = await world(there.url, there.outbound, { undo: true }, [near])
    const task = await here.triarch.submit(here.undone, 1, { metadata: { ...trace, shop: 'a' } })
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    const told = there.heard.map(({ headers: { traceparent, tracestate, baggage } }) => [
      traceparent,
      tracestate,
      baggage,
    ])
    expect(told).toEqual([
      [nearer, 'v=1', 'tenant=acme'],
      [trace.traceparent, 'v=1', undefined],
    ])
    expect(there.heard[0]?.data.metadata).toEqual({ ...trace, shop: 'a', traceparent: nearer })
  })

  it('is asked to undo what it did', async () => {
    await using there = await endpoint(({ data }) => (data.operation === 'run' ? { id: 'c-2' } : null))
    await using here = await world(there.url, there.outbound, { undo: true })
    const task = await here.triarch.submit(here.undone, 'bob')
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    expect(there.heard.map(({ data }) => data)).toMatchObject([
      { operation: 'run' },
      { operation: 'undo', input: 'bob', output: { id: 'c-2' } },
    ])
  })

  it('that answers nothing is asked whether it did the work, under the same key', async () => {
    await using there = await endpoint(({ data }, _, request) => {
      if (data.operation === 'verify') return { done: true, output: 'done before' }
      request.socket.destroy()
      return undefined
    })
    await using here = await world(there.url, there.outbound, { verify: true })
    expect(await (await here.triarch.submit(here.flow, 1)).result()).toBe('done before')
    expect(there.heard.map(({ data }) => data.operation)).toEqual(['run', 'verify'])
    expect(new Set(there.heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(new Set(there.heard.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })

  it('that asks for patience is asked again, and one that refuses is not', async () => {
    const statuses = [503, 429, 200, 422]
    await using there = await endpoint((_, response) => {
      response.writeHead(statuses.shift() ?? 500, { 'retry-after': '0' })
      return 'said'
    })
    await using here = await world(there.url, there.outbound)
    expect(await (await here.triarch.submit(here.flow, 1)).result()).toBe('said')
    await expect((await here.triarch.submit(here.flow, 2)).result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
    expect(there.heard).toHaveLength(4)
  })

  it('that answers 202 is waited for until it calls the token', async () => {
    const token = Promise.withResolvers<string>()
    await using there = await endpoint(({ data }, response) => {
      response.writeHead(202).end()
      token.resolve(data.token)
    })
    await using here = await world(there.url, there.outbound, { answerWithin: '1h' })
    const task = await here.triarch.submit(here.flow, 1)
    const response = await here.server.fetch(
      new Request(`http://localhost/api/v1/tokens/${await token.promise}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ value: { id: 'later' } }),
      }),
    )
    expect(response.status).toBe(202)
    expect(await task.result()).toEqual({ id: 'later' })
    expect(there.heard).toHaveLength(1)
  })

  it('that fails after a 202 says so by the token; any other signal is its own to deal with', async () => {
    await using there = await endpoint(({ data }, response) => {
      if (data.signal) return { told: data.signal.name }
      response.writeHead(202).end()
      const name = data.input === 'fails' ? 'failed' : 'moved'
      here.triarch.tasks.resume(data.token, { why: 'no such customer' }, { name }).catch(() => undefined)
      return undefined
    })
    await using here = await world(there.url, there.outbound)
    const failed = (await here.triarch.submit(here.flow, 'fails')).result()
    await expect(failed).rejects.toThrow('no such customer')
    expect(await (await here.triarch.submit(here.flow, 'moves')).result()).toEqual({ told: 'moved' })
  })

  it('has the types of its schemas, and is held to them', async () => {
    await using there = await endpoint(() => ({ id: 7 }))
    const { agent, actions } = httpAgent('typed', {
      ...{ url: there.url, secret: [secret, secret], outbound: there.outbound, concurrency: 5 },
      actions: {
        put: { input: z.object({ name: z.string() }), output: z.object({ id: z.string() }), rescue: 'pause' },
      },
    })
    const typed = workflow('typed', {
      run: async (name: string, task): Promise<string> => (await task.run(actions.put, { name })).id,
    })
    const store = sqlite(':memory:', { writer: 'inline' })
    await using triarch = new Triarch({ store, workflows: [typed], agents: [agent], notices: false })
    await triarch.start()
    const task = await triarch.submit(typed, 'ann')
    for await (const { status } of task.watch()) if (status === 'paused') break
    expect((await task.status()).steps[0]?.error).toMatchObject({ code: 'INVALID_OUTPUT' })
  })

  it.each<[string, object]>([
    ['no secret', { secret: 'x' }],
    ['a secret that is too short', { secret: 'whsec_YWJj' }],
    ['no URL', { url: 'crm' }],
    ['plain http', { url: 'http://crm.example.com/' }],
    ['another port', { url: 'https://crm.example.com:8443/' }],
    ['credentials in the URL', { url: 'https://me:pass@crm.example.com/' }],
    ['an address of this machine', { url: 'https://127.0.0.1/' }],
    ['the same in other words', { url: 'https://0x7f.1/' }],
    ['an address of the cloud', { url: 'https://169.254.169.254/' }],
    ['a private address of IPv6', { url: 'https://[fd00::1]/' }],
    ['no actions', { actions: {} }],
    ['an unknown option', { retries: 3 }],
    ['an unknown option of an action', { actions: { a: { run: 1 } } }],
    ['no boolean', { actions: { a: { undo: 'yes' } } }],
    ['no network', { outbound: { allow: ['10.0.0.0/40'] } }],
    ['an unknown scheme', { outbound: { schemes: ['ftp'] } }],
    ['no port', { outbound: { ports: [0] } }],
  ])('is refused with %s', (_, wrong) => {
    const right = { url: 'https://crm.example.com/', secret, actions: { a: {} } }
    expect(() => httpAgent('crm', right)).not.toThrow()
    expect(() => httpAgent('crm', { ...right, ...wrong })).toThrow(TriarchError)
  })
})

describe('an answer', () => {
  const thrownBy = (act: () => unknown): unknown => {
    try {
      act()
    } catch (error) {
      return error
    }
    return null
  }
  const answered = (status: number, headers = {}, body: string | null = '') => ({ status, headers, body })

  it('of 408, 425, 429 and 5xx is transient, after the time it asks for', () => {
    for (const status of [408, 425, 429, 500, 503]) {
      const thrown = thrownBy(() => outputOf('a', answered(status)))
      expect(thrown).toBeInstanceOf(TransientError)
      expect(thrown).not.toBeInstanceOf(UnknownOutcomeError)
    }
    const waitOf = (after: string) => {
      try {
        return outputOf('a', answered(503, { 'retry-after': after }))
      } catch (error) {
        return (error as TransientError).retryAfter
      }
    }
    expect(waitOf('3')).toBe(3_000)
    expect(waitOf('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0)
    expect(waitOf('99999999999')).toBe(30 * 86_400_000)
    expect(waitOf('soon')).toBeUndefined()
  })

  it('of 502 and 504 is unknown: a gateway cannot know whether the service did it', () => {
    for (const status of [502, 504]) {
      const thrown = thrownBy(() => outputOf('a', answered(status, { 'retry-after': '3' })))
      expect(thrown).toBeInstanceOf(UnknownOutcomeError)
      expect(thrown).toMatchObject({ retryAfter: 3_000 })
    }
  })

  it('of 202 to what cannot wait is permanent, and does not count as done', () => {
    for (const operation of ['undo', 'verify'] as const) {
      const thrown = thrownBy(() => answeredNow('a', operation, answered(202)))
      expect(thrown).toBeInstanceOf(PermanentError)
      expect(thrown).toMatchObject({ code: 'ANSWER_DEFERRED' })
      expect(answeredNow('a', operation, answered(204)).status).toBe(204)
    }
  })

  it('of any other 4xx, and a redirect, is permanent', () => {
    for (const status of [301, 302, 307, 400, 401, 404, 409, 410, 413, 422])
      expect(() => outputOf('a', answered(status))).toThrow(PermanentError)
  })

  it('that nobody can read says that the work is done', () => {
    for (const body of ['{', null]) expect(() => outputOf('a', answered(200, {}, body))).toThrow(/the answer/)
    expect(outputOf('a', answered(204))).toBe(null)
    expect(verificationOf('a', answered(200, {}, '{"done":"unknown"}'))).toEqual({ done: 'unknown' })
    expect(verificationOf('a', answered(200, {}, '{"done":false}'))).toEqual({ done: false })
    expect(() => verificationOf('a', answered(200, {}, '{}'))).toThrow(TriarchError)
  })

  it('that does not come is unknown, unless nothing was sent', () => {
    expect(lossOf('a', new NoAnswer('cut', false))).toBeInstanceOf(UnknownOutcomeError)
    expect(lossOf('a', new NoAnswer('refused', true))).not.toBeInstanceOf(UnknownOutcomeError)
  })
})

describe('the way out', () => {
  const call = (url: string, options: OutboundOptions) => {
    const way = new Outbound(options)
    const signal = new AbortController().signal
    return way.post({ url: new URL(url), headers: {}, body: '{}', signal })
  }

  it('leads to the public internet, and nowhere else', () => {
    const networks = new Networks([])
    const refused = [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '168.63.129.16',
      '100.64.0.1',
    ]
    refused.push('0.0.0.0')
    refused.push('224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1%eth0', 'fd00::1', 'ff02::1', '::ffff:10.0.0.1')
    refused.push('::ffff:a00:1', '64:ff9b::a00:1', '2002:a00:1::', '2001:0:a00:1::', '2001:db8::1', 'crm', '')
    expect(refused.filter((it) => networks.allow(it))).toEqual([])
    for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700::1111', '::ffff:1.1.1.1'])
      expect(networks.allow(address)).toBe(true)
    expect(new Networks(['10.1.0.0/16', 'fd00::/8']).allow('10.1.2.3')).toBe(true)
    expect(new Networks(['10.1.0.0/16']).allow('10.2.2.3')).toBe(false)
  })

  it('looks at what a name leads to each time that it connects: DNS that changes gains nothing', async () => {
    await using there = await endpoint((_, response) => {
      response.setHeader('connection', 'close')
      return 'here'
    })
    await using here = await world(`http://crm.example.com:${there.port}/`, {
      ...{ schemes: ['http'], ports: [there.port], allow: ['127.0.0.1'] },
      lookup: ((_, __, done) =>
        done(null, [{ address: addresses.shift() ?? '169.254.169.254', family: 4 }])) as LookupFunction,
    })
    const addresses = ['127.0.0.1', '127.0.0.2', '169.254.169.254', '10.0.0.1']
    expect(await (await here.triarch.submit(here.flow, 1)).result()).toBe('here')
    const led = (await here.triarch.submit(here.flow, 2)).result()
    await expect(led).rejects.toThrow(/crm\.example\.com leads to/)
    expect(there.heard).toHaveLength(1)
  })

  it('takes none of several addresses where one is bad, in either form of lookup', async () => {
    const all = [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]
    const lookup = ((_, __, done) => done(null, all)) as LookupFunction
    const options = { ...local, ports: [1], lookup, allow: ['127.0.0.1'] }
    await expect(call('http://crm.example.com:1/', options)).rejects.toMatchObject({ unsent: true })
    const none = ((_, __, done) => done(null, [])) as LookupFunction
    await expect(call('http://crm.example.com:1/', { ...options, lookup: none })).rejects.toThrow('no address')
  })

  it('refuses names that lead to this machine by themselves', async () => {
    const options: OutboundOptions = { schemes: ['http'], ports: [1] }
    await expect(call('http://localhost:1/', options)).rejects.toThrow('no address of the public internet')
  })

  it('serves those that wait for one of its few connections', async () => {
    const server = createEndpoint((request, response) => void request.resume().once('end', () => response.end('1')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const way = new Outbound({ ...local, ports: [port], connections: 1 })
    const signal = AbortSignal.timeout(10_000)
    const url = new URL(`http://127.0.0.1:${port}/`)
    const calls = [1, 2, 3].map(() => way.post({ url, headers: {}, body: '{}', signal }))
    expect((await Promise.all(calls)).map(({ body }) => body)).toEqual(['1', '1', '1'])
    server.closeAllConnections()
    server.close()
  })

  it('follows no redirect', async () => {
    await using there = await endpoint((_, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    })
    await using here = await world(there.url, there.outbound)
    await expect((await here.triarch.submit(here.flow, 1)).result()).rejects.toThrow('redirect')
    expect(there.heard).toHaveLength(1)
  })

  it('reads no endless body', async () => {
    const cut = Promise.withResolvers<void>()
    await using there = await endpoint((_, response) => {
      response.on('close', () => cut.resolve())
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    })
    await using here = await world(there.url, { ...there.outbound, bytes: 200_000 }, { rescue: 'pause' })
    const task = await here.triarch.submit(here.flow, 1)
    for await (const { status } of task.watch()) if (status === 'paused') break
    expect((await task.status()).steps[0]?.error?.message).toContain('too many bytes')
    await cut.promise
    expect(there.heard).toHaveLength(1)
  })

  it('waits for a slow body until complete-by, and hangs up', async () => {
    const cut = Promise.withResolvers<void>()
    await using there = await endpoint(({ data }, response) => {
      if (data.operation === 'verify') return { done: true, output: 'it was done' }
      response.on('close', () => cut.resolve())
      response.write('"')
      return undefined
    })
    await using here = await world(there.url, there.outbound, { verify: true, attemptWithin: '100ms' })
    expect(await (await here.triarch.submit(here.flow, 1)).result()).toBe('it was done')
    await cut.promise
  })

  it('takes no answer that is no HTTP, nor endless headers', async () => {
    for (const said of ['SSH-2.0-OpenSSH_9.9\r\n', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`]) {
      const server = createSocketServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => socket.write(said))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      await expect(call(`http://127.0.0.1:${port}/`, { ...local, ports: [port] })).rejects.toMatchObject({
        unsent: false,
      })
      server.close()
    }
  })

  it('that is closed says that nothing was sent', async () => {
    await expect(call('http://127.0.0.1:1/', { ...local, ports: [1] })).rejects.toMatchObject({ unsent: true })
  })
})
