// What one client's stream of events promises, apart from who is told what.
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { type ListChange, workflow } from 'triarch'
import { testEngine } from 'triarch/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bodyOf, Held } from '../src/held.ts'
import { createServer, type Principal } from '../src/index.ts'
import { EventStream } from '../src/live/stream.ts'
import { Streams } from '../src/live/streams.ts'
import { Guard } from '../src/request/guard.ts'

type Task = Extract<ListChange, { type: 'task' }>['task']

const base: Task = {
  ...{ id: 't-1', workflow: 'order', version: '1', status: 'running', outcome: null, priority: 0 },
  ...{ submittedAt: new Date(0).toISOString(), updatedAt: new Date(0).toISOString() },
} as unknown as Task
const anybody = new Guard(undefined, null)
const task = (id: string, n: number): ListChange => ({ type: 'task', task: { ...base, id, progress: n } as Task })

function stream({ most = 1_000_000, known = null }: { most?: number; known?: string | null } = {}) {
  const gone = { times: 0 }
  const closed = () => void gone.times++
  const holding = new Held(64 * 1024 * 1024).of(null)
  const one = new EventStream({ most, alone: false, known, retry: 2_000, closed, holding })
  return { one, gone }
}

/** Blocks as they were written, without reading more than there is. */
async function read(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const next = await Promise.race([reader.read(), new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
    if (next === null || next.done) break
    text += decoder.decode(next.value, { stream: true })
  }
  reader.releaseLock()
  return text.split('\n\n').filter((block) => block !== '')
}

const last = (blocks: string[]) => {
  const [, data = 'null'] = /data: (.*)/.exec(blocks.at(-1) ?? '') ?? []
  return JSON.parse(data) as Record<string, unknown>
}

describe('a stream of events', () => {
  it('tells a client that was slow the newest of each task, and of none a second time', async () => {
    const { one } = stream()
    one.take({ type: 'page', tasks: [base] })
    for (let n = 0; n < 10_000; n++) one.take(task(`t-${n % 3}`, n))
    const blocks = await read(one.body)
    // What was handed on before nobody read, and then one for each of the three.
    expect(blocks.length).toBeLessThan(200)
    expect(blocks.slice(-3).map((block) => last([block]).progress)).toEqual([9_997, 9_998, 9_999])
  })

  it('keeps no more than it may for who does not read, and lets go: once, and of everything', async () => {
    const { one, gone } = stream({ most: 10_000 })
    for (let n = 0; n < 1_000; n++) one.take(task(`t-${n}`, n))
    expect(gone.times).toBe(1)
    expect(last(await read(one.body))).toEqual({ code: 'STREAM_TOO_SLOW', again: true })
  })

  it('says that it is there when there is nothing else to say, and only then', async () => {
    const { one } = stream()
    one.take({ type: 'quiet' })
    expect(await read(one.body)).toEqual(['retry: 2000', ': quiet'])
    for (let n = 0; n < 1_000; n++) one.take(task(`t-${n}`, n))
    one.take({ type: 'quiet' })
    expect((await read(one.body)).filter((block) => block.startsWith(':'))).toEqual([])
  })

  it('goes on for who knew all of it, and tells the whole to who did not', async () => {
    const first = stream().one
    const page = { type: 'page' as const, tasks: [base] }
    first.take(page)
    first.take(task('t-1', 5))
    const known = /id: (.*)/.exec((await read(first.body)).at(-1) ?? '')?.[1] ?? ''
    const same = stream({ known }).one
    same.take({ ...page, tasks: [{ ...base, progress: 5 } as Task] })
    same.take(task('t-2', 1))
    expect((await read(same.body)).slice(1).map((block) => block.split('\n')[1])).toEqual(['event: task'])
    const other = stream({ known }).one
    other.take({ ...page, tasks: [{ ...base, progress: 6 } as Task] })
    expect((await read(other.body)).slice(1).map((block) => block.split('\n')[1])).toEqual(['event: page'])
  })

  it('is freed when its client goes away', async () => {
    const { one, gone } = stream()
    await one.body.cancel()
    one.take(task('t-1', 1))
    expect(gone.times).toBe(1)
  })
})

describe('what clients have not read', () => {
  const page = (name: string): ListChange => {
    const tasks = Array.from({ length: 50 }, (_, n) => ({ ...base, id: `${name}-${n}`, progress: 'x'.repeat(1_000) }))
    return { type: 'page', tasks: tasks as Task[] }
  }
  const opened = (held: Held, caller: string | null) => {
    const ended: string[] = []
    const closed = () => void ended.push('closed')
    const options = { most: 1_000_000, alone: false, known: null, retry: 2_000, closed }
    return { one: new EventStream({ ...options, holding: held.of(caller) }), ended }
  }

  it('is bounded in all: the stream that would hold more ends and is to be asked for again, the others go on', async () => {
    const held = new Held(200_000)
    const [first, second] = [opened(held, null), opened(held, null)]
    for (const { one } of [first, second]) one.take(page('a'))
    const third = opened(held, null)
    third.one.take(page('b'))
    expect(last(await read(third.one.body))).toEqual({ code: 'STREAMS_FULL', again: true })
    expect([first.ended, second.ended, third.ended]).toEqual([[], [], ['closed']])
    // What was read, and what belongs to nobody any more, is room for others.
    expect((await read(first.one.body)).length).toBeGreaterThan(1)
    await second.one.body.cancel()
    const fourth = opened(held, null)
    fourth.one.take(page('c'))
    expect((await read(fourth.one.body)).at(-1)).toContain('event: page')
  })

  it('is bounded for each caller, to a quarter of all, also where the stream has ended', async () => {
    const held = new Held(640_000)
    const greedy = opened(held, 'greedy')
    greedy.one.take(page('a'))
    greedy.one.end({ code: 'STOPPING', again: true })
    const more = opened(held, 'greedy')
    more.one.take(page('b'))
    expect(last(await read(more.one.body)).code).toBe('STREAMS_FULL')
    const other = opened(held, 'other')
    other.one.take(page('c'))
    expect((await read(other.one.body)).at(-1)).toContain('event: page')
    expect(last(await read(greedy.one.body)).code).toBe('STOPPING')
    const again = opened(held, 'greedy')
    again.one.take(page('d'))
    expect((await read(again.one.body)).at(-1)).toContain('event: page')
  })

  it('of an answer is held until it is read or given up', async () => {
    const held = new Held(200_000)
    const text = 'ä'.repeat(70_000)
    const [first, second] = [bodyOf(text, held.of(null)), bodyOf(text, held.of(null))]
    expect(second).toBe(null)
    expect(await new Response(first).text()).toBe(text)
    const third = bodyOf(text, held.of(null))
    await (third as ReadableStream).cancel()
    expect(bodyOf(text, held.of(null))).not.toBe(null)
  })
})

describe('the streams of a server', () => {
  const streams = () =>
    new Streams(
      { streams: 1, buffered: 1_000_000, stalled: 30_000 },
      anybody,
      () => 'STORE_UNAVAILABLE',
      new Held(64 * 1024 * 1024),
    )

  it('leave the last tenth to operators, so that others cannot shut them out', async () => {
    const held = new Held(64 * 1024 * 1024)
    const all = new Streams({ streams: 20, buffered: 1_000_000, stalled: 30_000 }, anybody, String, held)
    async function* watch(): AsyncIterableIterator<ListChange> {
      yield { type: 'page', tasks: [base] }
      await new Promise(() => undefined)
    }
    const open = (caller: string, operates = false) => all.open({ watch, caller, operates }, null)
    for (let n = 0; n < 18; n++) await open(`reader ${n % 4}`)
    await expect(open('reader 4')).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' })
    for (let n = 0; n < 2; n++) expect(await open('operator', true)).not.toBeNull()
    await expect(open('operator', true)).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' })
    all.close()
  })

  it('end with a word when the store fails, and make room', async () => {
    const all = streams()
    const fails = Promise.withResolvers<void>()
    async function* watch(): AsyncIterableIterator<ListChange> {
      yield { type: 'page', tasks: [base] }
      await fails.promise
      throw new Error('the store is down')
    }
    const body = await all.open({ watch }, null)
    await expect(all.open({ watch }, null)).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' })
    fails.resolve()
    const text = await new Response(body).text()
    expect(text).toMatch(/^retry: [23]\d{3}\n\n/)
    expect(text).toMatch(/event: end\ndata: \{"code":"STORE_UNAVAILABLE","again":true\}\n\n$/)
    await (await all.open({ watch }, null))?.cancel()
  })

  it('drop a connection that reads nothing, at a bound of what is kept for it, and tell the others', async () => {
    const text = 'x'.repeat(10_000)
    const all = new Streams(
      { streams: 2, buffered: 100_000, stalled: 30_000 },
      anybody,
      () => 'STORE_UNAVAILABLE',
      new Held(64 * 1024 * 1024),
    )
    let changed = 0
    const kept: number[] = []
    const sockets: Socket[] = []
    const over = new AbortController()
    const dropped = Promise.withResolvers<unknown>()
    async function* watch(signal: AbortSignal): AsyncIterableIterator<ListChange> {
      yield { type: 'page', tasks: [base] }
      signal.addEventListener('abort', dropped.resolve)
      while (!signal.aborted && !over.signal.aborted) {
        const error = { message: `${text}${changed}` }
        yield { type: 'task', task: { ...base, id: `t-${changed++ % 50}`, error } as unknown as Task }
        kept.push(sockets[0]?.writableLength ?? 0)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const http = createHttp(getRequestListener(async () => new Response(await all.open({ watch }, null))))
    http.on('connection', (socket: Socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(http, 'listening')
    const { port } = http.address() as AddressInfo
    const slow = connect(port, '127.0.0.1').pause()
    slow.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [served] = (await once(http, 'connection')) as [Socket]
    const cut = new Promise<void>((resolve) => served.on('error', () => undefined).on('close', () => resolve()))
    const reads = connect(port, '127.0.0.1').resume()
    reads.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(reads, 'data')
    await expect(all.open({ watch }, null)).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' })
    await dropped.promise
    // Its place is free, and as nothing moves on its connection the listener cuts that.
    await (await all.open({ watch }, null))?.cancel()
    served.setTimeout(100)
    await cut
    // The system's own buffers hold some megabytes; here there was never more than what is handed on, and one event.
    expect(Math.max(...kept)).toBeLessThan(100_000)
    const before = reads.bytesRead
    await once(reads, 'data')
    expect(reads.bytesRead).toBeGreaterThan(before)
    over.abort()
    slow.destroy()
    reads.destroy()
    await once(http.close(), 'close')
  }, 60_000)

  it('call off the watch of a client that goes away', async () => {
    const all = streams()
    const called = Promise.withResolvers<void>()
    async function* watch(signal: AbortSignal): AsyncIterableIterator<ListChange> {
      signal.addEventListener('abort', () => called.resolve())
      yield { type: 'page', tasks: [base] }
      await called.promise
    }
    await (await all.open({ watch }, null))?.cancel()
    await called.promise
  })

  it('make room at once for whoever goes away before anything was found', async () => {
    const all = streams()
    const left = new AbortController()
    async function* watch(signal: AbortSignal): AsyncIterableIterator<ListChange> {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const opening = all.open({ watch, signal: left.signal }, null)
    await expect(all.open({ watch }, null)).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' })
    left.abort()
    expect(await opening).toBeNull()
    async function* found(): AsyncIterableIterator<ListChange> {
      yield { type: 'page', tasks: [base] }
    }
    await (await all.open({ watch: found }, null))?.cancel()
  })

  it.each([
    ['UNAUTHENTICATED', null],
    ['FORBIDDEN', { id: 'ada', rights: ['start'] as const }],
  ])('end within 15 s for who may watch no more: %s', async (code, principal) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    await using engine = await testEngine()
    let who: Principal | null = { id: 'ada', rights: ['read'] }
    const server = createServer(engine.triarch, { authenticate: () => who })
    const response = await server.fetch(new Request('http://localhost/api/v1/stats/events'))
    const body = response.body as ReadableStream<Uint8Array>
    await vi.advanceTimersByTimeAsync(15_000)
    expect((await read(body)).some((block) => block.includes('event: end'))).toBe(false)
    who = principal
    await vi.advanceTimersByTimeAsync(15_000)
    expect(last(await read(body))).toEqual({ code, again: true })
    await server.close()
  })

  it('go on at another server where they were cut off: nothing is told again, and nothing is missed', async () => {
    const two = workflow('two', { run: (_: null, it) => it.waitForSignal('go') })
    await using engine = await testEngine({ workflows: [two] })
    await engine.submit(two, null, { id: 'cut' })
    const watched = async (known?: string) => {
      const server = createServer(engine.triarch, { workflows: [two], open: true })
      const headers: Record<string, string> = known === undefined ? {} : { 'last-event-id': known }
      const response = await server.fetch(new Request('http://localhost/api/v1/tasks/events', { headers }))
      await engine.advance('1s')
      return response.body as ReadableStream<Uint8Array>
    }
    const first = await watched()
    const [, known = ''] = /id: (.*)/.exec((await read(first)).at(-1) ?? '') ?? []
    await first.cancel()
    const second = await watched(known)
    expect((await read(second)).slice(1)).toEqual([])
    await second.cancel()
    await engine.submit(two, null, { id: 'missed' })
    await engine.advance('1s')
    const third = await watched(known)
    expect((await read(third)).slice(1).join()).toContain('"id":"missed"')
    await third.cancel()
  })

  it('say something at least every 15 s, so that nobody between takes them for dead', async () => {
    const never = workflow('never', { run: (_: null, it) => it.waitForSignal('never') })
    await using engine = await testEngine({ workflows: [never] })
    const server = createServer(engine.triarch, { workflows: [never], open: true })
    await engine.submit(never, null, { id: 'quiet' })
    await engine.advance('1s')
    const response = await server.fetch(new Request('http://localhost/api/v1/tasks/quiet/events'))
    const body = response.body as ReadableStream<Uint8Array>
    await engine.advance('1s')
    await read(body)
    for (let round = 0; round < 3; round++) {
      await engine.advance('15s')
      expect(await read(body)).toContain(': quiet')
    }
    await body.cancel()
    await server.close()
  })
})
