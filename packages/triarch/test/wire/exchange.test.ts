import { describe, expect, it } from 'vitest'
import {
  type ActionDefinition,
  type AgentOptions,
  type AgentRequest,
  agent,
  connectAgents,
  type ServerMessage,
} from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'

const welcome = { type: 'welcome', protocol: 1, session: 's', lease: 1_000, payload: 1_000 } as const
const attempt = (n: number, name: string, attemptWithin = 60_000, action = 'own.act'): ServerMessage => ({
  ...{ n, type: 'attempt', attempt: name, agent: 'own', action, operation: 'run', number: 1, name: 'act' },
  ...{ task: 't', step: n, workflow: 'w', version: '1', idempotencyKey: `t:${n}`, input: null, token: 'x' },
  attemptWithin,
})

interface Policies {
  policy?: AgentOptions
  action?: Pick<ActionDefinition<unknown, unknown>, 'cache' | 'concurrency'>
}

/** Agents whose requests wait until the test answers them. */
function scene({ policy = { concurrency: 10 }, action = {} }: Policies = {}) {
  const environment = new VirtualEnvironment()
  const own = agent('own', policy)
  const ran: number[] = []
  const held = Promise.withResolvers<void>()
  own.action('act', {
    ...action,
    async run(_: unknown, step) {
      ran.push(step.stepId)
      if (step.stepId === 2) await held.promise
    },
  })
  const asked: { request: AgentRequest; answer(...messages: ServerMessage[]): void; after: number }[] = []
  const fetch = (_: string, { body }: { body: string }) =>
    new Promise((resolve) => {
      const request = JSON.parse(body) as AgentRequest
      const one = {
        request,
        after: 0,
        answer: (...messages: ServerMessage[]) =>
          resolve({ ok: true, status: 200, text: async () => JSON.stringify({ messages, after: one.after }) }),
      }
      asked.push(one)
    })
  const connection = connectAgents('http://here', {
    ...{ environment, agents: [own], onError: () => undefined },
    fetch: fetch as unknown as typeof globalThis.fetch,
  })
  connection.connected.catch(() => undefined)
  const next = async () => {
    await environment.advance(1)
    const one = asked.shift()
    if (!one) throw new Error('nothing was asked')
    return one
  }
  return { environment, ran, free: held.resolve, next }
}

const said = (request: AgentRequest) =>
  request.messages.map((it) => (it.type === 'reply' ? `${it.attempt} ${it.outcome.kind}` : it.type))

describe('a connected process', () => {
  it('does not begin an attempt that comes later than a lease after it asked: it may have been given up', async () => {
    const { environment, ran, next } = scene()
    ;(await next()).answer(welcome)
    const first = await next()
    await environment.advance(999)
    first.answer(attempt(1, 'quick'))
    const second = await next()
    expect(said(second.request)).toEqual(['quick done'])
    await environment.advance(1_001)
    second.answer(attempt(2, 'late'))
    expect(said((await next()).request)).toContain('late withdrawn')
    expect(ran).toEqual([1])
  })

  it('does not begin an attempt that comes after its complete-by, and takes what was on its way off the rest', async () => {
    const { environment, ran, next } = scene()
    ;(await next()).answer(welcome)
    const first = await next()
    await environment.advance(500)
    first.answer(attempt(1, 'late', 400))
    const second = await next()
    expect(said(second.request)).toEqual(['late withdrawn'])
    await environment.advance(500)
    // It was said just now.
    second.after = 500
    second.answer(attempt(2, 'held', 400))
    await environment.advance(398)
    const third = await next()
    expect(said(third.request)).toEqual([])
    const fourth = await next()
    expect(said(fourth.request)).toContain('held failed')
    expect(ran).toEqual([2])
  })

  const key = () => 'k'
  const policies: Record<string, Policies> = {
    'a bound over all nodes': { policy: { concurrency: { shared: 5 } } },
    'such a bound for each key': { policy: { concurrency: { shared: 5, each: 10, key } } },
    'such a bound of the action': { action: { concurrency: { shared: 5 } } },
    'a circuit breaker': { policy: { circuitBreaker: {} } },
    'a rate limit': { policy: { rateLimit: { limit: 1, per: '1h' } } },
    'a cache': { action: { cache: { ttl: '1h', key } } },
    fairness: { policy: { fairness: { key } } },
  }

  it.each(Object.keys(policies))('begins what it is given where its agent has %s', async (name) => {
    const { ran, next } = scene(policies[name])
    ;(await next()).answer(welcome)
    ;(await next()).answer(attempt(1, 'first'), attempt(3, 'second'))
    expect(said((await next()).request)).toEqual(['first done', 'second done'])
    expect(ran).toEqual([1, 3])
  })

  it('offers more slots as its service is well, where its agent follows that, and never more than it has', async () => {
    const { environment, ran, next } = scene({ policy: { concurrency: { each: 3, adaptive: { least: 1 } } } })
    const hello = await next()
    hello.answer(welcome)
    const offered = hello.request.messages.flatMap((it) => (it.type === 'hello' ? it.agents : []))
    const slots = offered.map((it) => it.slots)
    for (let turn = 1; turn < 40; turn++) {
      const { request, answer } = await next()
      for (const it of request.messages) if (it.type === 'credit') slots.push(it.slots)
      const given = Array.from({ length: slots.at(-1) ?? 0 }, (_, place) => 10 * turn + place)
      answer(...given.map((n) => attempt(n, `a-${n}`)))
      await environment.advance(10)
    }
    expect(slots).toEqual([1, 2, 3])
    expect(ran.length).toBeGreaterThan(40)
  })

  it('names for two leases what another session acknowledged than the one that gave it', async () => {
    const { environment, free, next } = scene()
    ;(await next()).answer(welcome)
    ;(await next()).answer(attempt(1, 'quick'), attempt(2, 'held'))
    ;(await next()).answer({ n: 3, type: 'ack', attempt: 'quick' })
    ;(await next()).answer({ type: 'reset' })
    const hello = async () => {
      const { request, answer } = await next()
      answer({ ...welcome, session: `s-${request.messages.length}` })
      return request.messages[0]
    }
    expect(await hello()).toMatchObject({ running: ['held'] })
    free()
    await environment.advance(1)
    const asked = await next()
    asked.answer({ n: 1, type: 'ack', attempt: 'held' })
    ;(await next()).answer({ type: 'reset' })
    expect(await hello()).toMatchObject({ running: ['held'] })
    const last = await next()
    await environment.advance(2_000)
    last.answer({ type: 'reset' })
    expect(await hello()).toMatchObject({ running: [] })
  })

  it('answers who wants an attempt to end that it does not know: its outcome is unknown', async () => {
    const { next } = scene()
    ;(await next()).answer(welcome)
    ;(await next()).answer({ n: 1, type: 'abort', attempt: 'other', code: 'STEP_LOST', message: 'given up' })
    const { request } = await next()
    expect(request.messages).toMatchObject([{ attempt: 'other', outcome: { kind: 'failed', unknown: true } }])
  })

  it('does not hear what comes late of requests from before a reset', async () => {
    const { ran, free, next } = scene()
    ;(await next()).answer(welcome)
    ;(await next()).answer(attempt(1, 'quick'), attempt(2, 'held'))
    const first = await next()
    expect(said(first.request)).toEqual(['quick done'])
    free()
    const second = await next()
    expect(said(second.request)).toEqual(['held done'])
    second.answer({ type: 'reset' })
    first.answer({ n: 3, type: 'ack', attempt: 'quick' }, attempt(4, 'other'))
    const hello = await next()
    expect(hello.request.messages[0]).toMatchObject({ type: 'hello', count: 2, running: ['quick', 'held'] })
    expect(ran).toEqual([1, 2])
  })
})

/** WebSockets in the hands of the test. */
function sockets() {
  const all: Fake[] = []
  class Fake {
    readonly OPEN = 1
    readyState = 0
    readonly sent: AgentRequest[] = []
    /** Who says too much has no room any more. */
    get bufferedAmount() {
      return this.sent.length > 1_000 ? 10 * 1024 * 1024 : 0
    }
    closed = false
    readonly #listeners: Record<string, (event: object) => void> = {}
    constructor() {
      all.push(this)
    }
    addEventListener(type: string, listener: (event: object) => void) {
      this.#listeners[type] = listener
    }
    emit(type: string, event: object = {}) {
      this.#listeners[type]?.(event)
    }
    send(frame: string) {
      this.sent.push(JSON.parse(frame) as AgentRequest)
    }
    close() {
      this.closed = true
    }
  }
  const environment = new VirtualEnvironment()
  const own = agent('own')
  own.action('act', {
    async run(_: unknown, step) {
      for (let beat = 1; ; beat++) {
        step.heartbeat({ progress: 1 / beat })
        await new Promise<void>((resolve) => environment.timer(200, resolve))
      }
    },
  })
  own.action('log', { run: async (_: unknown, step) => step.log.info('done') })
  const connection = connectAgents('http://here', {
    ...{ environment, agents: [own], onError: () => undefined },
    webSocket: Fake as unknown as typeof WebSocket,
  })
  connection.connected.catch(() => undefined)
  const next = async () => {
    await environment.advance(1)
    const socket = all.at(-1)
    if (!socket) throw new Error('nobody was called')
    socket.readyState = 1
    socket.emit('open')
    await environment.advance(1)
    return socket
  }
  return { environment, next }
}

describe('a connection by WebSocket', () => {
  it('is given up when a hello is not answered for 10 s', async () => {
    const { environment, next } = sockets()
    const socket = await next()
    expect(socket.sent.map(({ messages }) => messages[0]?.type)).toEqual(['hello'])
    await environment.advance(9_990)
    expect(socket.closed).toBe(false)
    await environment.advance(20)
    expect(socket.closed).toBe(true)
  })

  it('is given up when the server says nothing for 12 s, however much it is told meanwhile', async () => {
    const { environment, next } = sockets()
    const socket = await next()
    const say = (...messages: ServerMessage[]) => socket.emit('message', { data: JSON.stringify({ messages }) })
    say(welcome, attempt(1, 'beats'))
    await environment.advance(1_900)
    expect(socket.sent.length).toBeGreaterThan(5)
    expect(socket.sent.every(({ messages }) => messages.length > 0)).toBe(true)
    await environment.advance(500)
    expect(socket.sent.some(({ messages }) => messages.length === 0)).toBe(true)
    say()
    await environment.advance(9_000)
    expect(socket.closed).toBe(false)
    await environment.advance(3_300)
    expect(socket.closed).toBe(true)
  })

  it('falls silent once what an attempt has logged is acknowledged with it', async () => {
    const { environment, next } = sockets()
    const socket = await next()
    const say = (...messages: ServerMessage[]) => socket.emit('message', { data: JSON.stringify({ messages }) })
    say({ ...welcome, lease: 60_000 }, attempt(1, 'logs', 60_000, 'own.log'))
    await environment.advance(10)
    expect(socket.sent.at(-1)?.messages.map(({ type }) => type)).toEqual(['log', 'reply'])
    say({ n: 2, type: 'ack', attempt: 'logs' })
    const before = socket.sent.length
    await environment.advance(1_500)
    expect(socket.sent.length - before).toBeLessThan(3)
  })
})

it('the token of agents goes over http: to no other machine, unless somebody says that it may', async () => {
  const mail = agent('mail')
  const given = { agents: [mail], token: 's3cret', fetch: () => new Promise<Response>(() => undefined) }
  const refused = expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('insecure') })
  expect(() => connectAgents(['https://a.example', 'http://b.example'], given)).toThrow(refused)
  expect(() => connectAgents('http://b.example', { ...given, insecure: 1 as never })).toThrow(refused)
  for (const connection of [
    connectAgents('http://b.example', { ...given, insecure: true }),
    connectAgents('http://127.0.0.1:1', given),
    connectAgents('http://b.example', { agents: [mail], fetch: given.fetch }),
  ]) {
    connection.connected.catch(() => undefined)
    await connection.close({ grace: 0 })
  }
})

it('an answer without an end is given up at a bound, and the server is asked again', async () => {
  const chunk = new Uint8Array(1024 * 1024)
  let pulled = 0
  const errors: unknown[] = []
  const again = Promise.withResolvers<void>()
  let asked = 0
  const endless = async () => {
    if (++asked === 2) again.resolve()
    return new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled++
          controller.enqueue(chunk)
        },
      }),
    )
  }
  const connection = connectAgents('http://127.0.0.1:1', {
    ...{ agents: [agent('mail')], fetch: endless as unknown as typeof globalThis.fetch },
    onError: (error) => errors.push(error),
  })
  connection.connected.catch(() => undefined)
  await again.promise
  await connection.close({ grace: 0 })
  expect(errors[0]).toMatchObject({ message: expect.stringContaining('more than') })
  expect(pulled).toBeLessThan(200)
})
