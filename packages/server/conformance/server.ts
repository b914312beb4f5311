// A server that keeps to the protocol, as far as it is told to: what an agent is held against.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentMessage, AgentRequest, NumberedMessage, RemoteAttempt } from 'triarch'
import { type WebSocket, WebSocketServer } from 'ws'
import { AgentExchange } from '../src/wire/agent.ts'

export const TOKEN = 'conformance'
/** How long an agent may take for anything (ms). */
const PATIENCE = 30_000

type Hello = Extract<AgentMessage, { type: 'hello' }>
type Of<T extends AgentMessage['type']> = Extract<AgentMessage, { type: T }>

export class Examiner {
  /** All that was said, in the order in which it came. */
  readonly heard: AgentMessage[] = []
  readonly hellos: Hello[] = []
  /** What no agent may do. */
  readonly faults: string[] = []
  /** Whether replies are acknowledged. */
  acknowledges = true
  /** Requests that are refused from now on. */
  down = 0
  /** Answers that get lost from now on, after the request was dealt with. */
  lost = 0
  /** What is said seems to have been on its way since what it answers was asked. */
  slow = false
  /** Requests and frames that came. */
  requests = 0
  /** WebSockets that were opened. */
  sockets = 0
  readonly #server: Server
  readonly #upgrades = new WebSocketServer({ noServer: true })
  /** Says on the WebSocket what is new. */
  #push: (() => void) | null = null
  #session = 0
  #last = 0
  #unseen: { message: { n: number } & NumberedMessage; sent: boolean }[] = []
  #poll: (() => void) | null = null
  #attempts = 0
  readonly #watchers = new Set<() => void>()

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.faults.push(`the examiner failed: ${String(error)}`)
        response.destroy()
      })
    })
    this.#server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/api/v1/agents/exchange') this.faults.push(`it asked for a WebSocket at ${request.url}`)
      if (request.headers.authorization !== `Bearer ${TOKEN}`) this.faults.push('it did not send its token')
      this.#upgrades.handleUpgrade(request, socket, head, (it) => this.#talk(it))
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#poll?.()
    for (const socket of this.#upgrades.clients) socket.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Gives it an attempt; its name. */
  give(action: string, input: RemoteAttempt['input'], more: Partial<RemoteAttempt> = {}): string {
    const number = ++this.#attempts
    const attempt = `a-${number}`
    this.say({
      ...{
        type: 'attempt',
        attempt,
        agent: 'conformance',
        action: `conformance.${action}`,
        operation: 'run',
        number: 1,
      },
      ...{ task: `t-${number}`, step: 1, name: action, workflow: 'examination', version: '1', input },
      ...{ idempotencyKey: `t-${number}:1`, token: 'token', attemptWithin: 60_000, ...more },
    })
    return attempt
  }

  say(message: NumberedMessage): void {
    this.#unseen.push({ message: { n: ++this.#last, ...message }, sent: false })
    this.#poll?.()
    this.#push?.()
  }

  /** It knows the session no more. */
  reset(): void {
    this.#session++
    this.#unseen = []
    this.#poll?.()
    this.#push?.()
  }

  /** Once there is one, the first that fits. Rejects when it takes too long. */
  async until<T>(what: string, find: () => T | undefined): Promise<T> {
    const over = Promise.withResolvers<never>()
    const timer = setTimeout(() => over.reject(new Error(`no ${what} within ${PATIENCE} ms`)), PATIENCE)
    try {
      for (;;) {
        const found = find()
        if (found !== undefined) return found
        const news = Promise.withResolvers<void>()
        this.#watchers.add(news.resolve)
        await Promise.race([news.promise, over.promise])
        this.#watchers.delete(news.resolve)
      }
    } finally {
      clearTimeout(timer)
      over.promise.catch(() => undefined)
    }
  }

  said<T extends AgentMessage['type']>(type: T, attempt: string): Of<T>[] {
    return this.heard.filter((it): it is Of<T> => it.type === type && 'attempt' in it && it.attempt === attempt)
  }

  reply(attempt: string): Promise<Of<'reply'>> {
    return this.until(`reply to ${attempt}`, () => this.said('reply', attempt)[0])
  }

  /** A hello after so many. */
  hello(after: number): Promise<Hello> {
    return this.until('hello', () => this.hellos[after])
  }

  /** The same by WebSocket: what an agent says are requests without `wait`, what it hears are answers. */
  #talk(socket: WebSocket): void {
    this.sockets++
    let session = ''
    let heard = 0
    let heardAt = performance.now()
    const say = (messages: unknown[]) => {
      if (this.lost > 0) {
        this.lost--
        socket.terminate()
      } else socket.send(JSON.stringify({ messages, heard: this.slow ? 1 : heard, after: this.#since(heardAt) }))
    }
    const push = () => {
      if (session === '') return
      if (session !== `s-${this.#session}`) {
        session = ''
        return say([{ type: 'reset' }])
      }
      const fresh = this.#unseen.filter(({ sent }) => !sent)
      for (const it of fresh) it.sent = true
      if (fresh.length > 0) say(fresh.map(({ message }) => message))
    }
    this.#push = push
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.#push === push) this.#push = null
    })
    socket.on('message', (data) => {
      heard++
      this.requests++
      heardAt = performance.now()
      if (this.down > 0) {
        this.down--
        return socket.close(1013)
      }
      const checked = AgentExchange.safeParse(JSON.parse(String(data)))
      if (!checked.success) {
        this.faults.push(`its frame is not as the schema has it: ${checked.error.message.slice(0, 500)}`)
        return socket.close(1008)
      }
      const request = checked.data as AgentRequest
      if (request.wait) this.faults.push('by WebSocket nobody waits')
      const before = new Set(this.#unseen.filter(({ sent }) => sent).map(({ message }) => message))
      const isHello = request.messages[0]?.type === 'hello'
      const answer = this.#deal(request)
      if (isHello) session = `s-${this.#session}`
      const fresh = answer.filter((it) => isHello || !before.has(it as never))
      if (fresh.length > 0 || request.messages.length === 0) say(fresh)
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now()
    this.requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (this.down > 0) {
      this.down--
      response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"code":"STOPPING"}')
      return
    }
    if (request.method !== 'POST' || request.url !== '/api/v1/agents/exchange')
      this.faults.push(`it asked ${request.method} ${request.url}`)
    if (request.headers.authorization !== `Bearer ${TOKEN}`) this.faults.push('it did not send its token')
    if (!/^application\/json/.test(request.headers['content-type'] ?? '')) this.faults.push('it did not send JSON')
    const checked = AgentExchange.safeParse(JSON.parse(Buffer.concat(chunks).toString()))
    if (!checked.success) {
      this.faults.push(`its request is not as the schema has it: ${checked.error.message.slice(0, 500)}`)
      response.writeHead(400).end()
      return
    }
    const messages = await this.#answer(checked.data as AgentRequest, response)
    if (this.lost > 0) {
      this.lost--
      response.destroy()
      return
    }
    if (!response.destroyed)
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ messages, after: this.#since(began) }))
  }

  #since(began: number): number {
    return this.slow ? 0 : Math.floor(performance.now() - began)
  }

  async #answer(request: AgentRequest, response: ServerResponse): Promise<unknown[]> {
    const { wait = 0 } = request
    const told = this.#deal(request, wait > 0)
    const mine = this.#session
    if (wait > 0 && told.length === 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(wait, 5_000))
        response.once('close', resolve)
        this.#poll = () => {
          clearTimeout(timer)
          this.#poll = null
          resolve()
        }
      })
    else return told
    if (mine !== this.#session) return [{ type: 'reset' }]
    for (const it of this.#unseen) it.sent = true
    return this.#unseen.map(({ message }) => message)
  }

  /** What there is to say to it; `waits`: nothing, if it knows all of it. */
  #deal({ session, seen = 0, messages }: AgentRequest, waits = false): unknown[] {
    const [first] = messages
    let welcome: unknown[] = []
    if (first?.type === 'hello') {
      if (session !== undefined) this.faults.push('a hello is of no session')
      this.hellos.push(first)
      this.#session++
      this.#poll?.()
      // What it does not name it never got.
      const known = new Set(first.running)
      this.#unseen = this.#unseen.filter(({ message }) => message.type === 'attempt' && !known.has(message.attempt))
      this.#last = 0
      for (const it of this.#unseen) it.message.n = ++this.#last
      const { protocol } = first
      welcome = [{ type: 'welcome', protocol, session: `s-${this.#session}`, lease: 10_000, payload: 262_144 }]
    } else if (session !== `s-${this.#session}`) return [{ type: 'reset' }]
    this.#unseen = this.#unseen.filter(({ message }) => message.n > (welcome.length > 0 ? 0 : seen))
    for (const message of messages) {
      this.heard.push(message)
      if ((message.type === 'reply' || message.type === 'suspend') && this.acknowledges)
        this.say({ type: 'ack', attempt: message.attempt })
    }
    for (const tell of [...this.#watchers]) tell()
    this.#poll?.()
    if (waits && this.#unseen.every(({ sent }) => sent)) return []
    for (const it of this.#unseen) it.sent = true
    return [...welcome, ...this.#unseen.map(({ message }) => message)]
  }
}
