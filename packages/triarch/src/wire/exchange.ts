import { defaultThreads } from '../agent/threads.ts'
import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import { delay, type Environment, type Timer } from '../environment/environment.ts'
import { systemEnvironment } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { AgentProcess } from './agent.ts'
import { LocalAgentHosts } from './agent-hosts.ts'
import type { ConnectAgentsOptions, ConnectedAgents } from './connection.ts'
import { answerIn, ExchangeError, readText, reasonOf } from './failure.ts'
import { type AgentRequest, type AgentResponse, type ServerMessage, sinceHello } from './message.ts'
import { AgentSocket } from './socket.ts'

/** At most two requests are under way: the one that waits, and one that sends something meanwhile. */
const MOST_REQUESTS = 2
/** How long a server is asked to wait for messages (ms). */
const WAIT = 4_000
/** An answer that takes this much longer counts as failed (ms). */
const PATIENCE = 10_000
/** Delay after a failure: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/** A server that took no WebSocket is tried again with one after this long (ms). */
const PLAIN = 30_000
/** Messages and characters that are received before they are acknowledged. */
const MOST_UNTOLD = { messages: 100, size: 256 * 1024 }
/** Received messages are acknowledged after this long in any case (ms). */
const TELL = 200
/** How long to wait for a connection that has no room (ms). */
const NO_ROOM = 20
/** Close codes with which a server rejects what was sent; plain requests find out which message. */
const refusals: readonly number[] = [1_003, 1_007, 1_008, 1_009]

/** Close codes of a server that is there but takes no connection at the moment. */
const busy: readonly number[] = [1_001, 1_012, 1_013]

/** The client of `connectAgents`: one WebSocket, or plain requests of which one waits at the server. */
export class Exchange implements ConnectedAgents {
  readonly #urls: readonly string[]
  readonly #options: ConnectAgentsOptions
  readonly #environment: Environment
  readonly #process: AgentProcess
  readonly #connected = Promise.withResolvers<void>()
  readonly #ended = new AbortController()
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  /** Counts the sessions: answers to requests of an earlier one are ignored. */
  #generation = 0
  #at = 0
  #socket: AgentSocket | null = null
  /** The hello was sent on this socket. */
  #greeted = false
  /** What was received on the socket and not acknowledged yet. */
  #untold = { messages: 0, size: 0 }
  /** Timer for the next acknowledgement or sign of life. */
  #telling: Timer | null = null
  #lease = WAIT
  /** When something was last sent on the socket (monotonic clock). */
  #saidAt = 0
  /** URLs for which plain requests are used for now. */
  readonly #plain = new Map<string, Timer>()
  #under = 0
  #pausing = false
  #flushing = false
  #open = true
  #closed: Promise<void> | null = null

  constructor(urls: readonly string[], options: ConnectAgentsOptions) {
    this.#urls = urls
    this.#options = options
    this.#environment = options.environment ?? systemEnvironment()
    this.#connected.promise.catch(() => undefined)
    const urge = () => this.#urge()
    const failed = (error: unknown) => this.#failed(error)
    this.#process = new AgentProcess({
      environment: this.#environment,
      hosts: new LocalAgentHosts({
        ...{ environment: this.#environment, agents: options.agents, middleware: options.middleware ?? [], urge },
        threads: options.threads ?? defaultThreads(),
        failed,
      }),
      ...{ software: 'triarch', urge, failed },
    })
    this.#urge()
  }

  get connected(): Promise<void> {
    return this.#connected.promise
  }

  close({ grace = this.#options.grace ?? '10s' }: { grace?: Duration } = {}): Promise<void> {
    this.#closed ??= this.#close(milliseconds(grace, 'grace'))
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(grace: number): Promise<void> {
    const never = new Promise<never>(() => undefined)
    await this.#process.drain(grace, this.#process.connected ? never : Promise.resolve())
    this.#open = false
    const farewell = this.#process.farewell()
    const socket = this.#socket
    this.#telling?.cancel()
    for (const url of [...this.#plain.keys()]) this.#speakNoMorePlainly(url)
    if (socket) {
      if (farewell && socket.ready) socket.send(farewell)
      socket.close()
    } else if (farewell) await this.#post(farewell).catch(() => undefined)
    this.#connected.reject(new TriarchError('NODE_STOPPED', 'the agents were closed before a server took them'))
    this.#ended.abort()
  }

  #urge(): void {
    if (this.#flushing || !this.#open) return
    this.#flushing = true
    this.#environment.soon(() => {
      this.#flushing = false
      this.#flush()
    })
  }

  #flush(): void {
    if (!this.#open || this.#pausing) return
    if (this.#isSocket()) return this.#speak()
    // A hello is sent alone: requests under way belong to another session.
    const room = this.#process.connected ? this.#under < MOST_REQUESTS : this.#under === 0
    if (!room || (this.#under > 0 && !this.#process.urgent)) return
    if (!this.#process.connected) this.#generation++
    this.#under++
    void CallContext.none.run(() => this.#exchange(this.#process.request(WAIT), this.#generation))
  }

  #url(): string {
    return this.#urls[this.#at] ?? ''
  }

  #isSocket(): boolean {
    const { webSocket, fetch } = this.#options
    return (webSocket ?? fetch === undefined) !== false && !this.#plain.has(this.#url())
  }

  /** Sends on the socket what there is to send. */
  #speak(): void {
    if (this.#under > 0) return // plain requests are under way; their answers come first
    const socket = this.#socket ?? this.#dial()
    if (!socket.ready) return
    if (!this.#process.connected) {
      if (!this.#greeted) this.#say(socket, this.#process.request(0))
      this.#greeted = true
      return
    }
    while (socket.hasRoom && (this.#process.urgent || this.#isUntold())) this.#tell(socket)
    if (!socket.hasRoom) this.#environment.timer(NO_ROOM, () => this.#urge())
  }

  #isUntold(): boolean {
    return this.#untold.messages >= MOST_UNTOLD.messages || this.#untold.size >= MOST_UNTOLD.size
  }

  #tell(socket: AgentSocket): void {
    const request = this.#process.request(0)
    this.#say(socket, request)
    this.#process.taken(request)
    this.#untold = { messages: 0, size: 0 }
    this.#tellAfter(this.#lease / 3)
  }

  #say(socket: AgentSocket, request: AgentRequest): void {
    this.#saidAt = this.#environment.monotonic()
    socket.send(request)
  }

  /** Sends something after `ms`, even if there is nothing to report. */
  #tellAfter(ms: number): void {
    this.#telling?.cancel()
    this.#telling = this.#environment.timer(ms, () => {
      const socket = this.#socket
      if (socket?.ready && this.#process.connected && this.#open) this.#tell(socket)
    })
  }

  #dial(): AgentSocket {
    this.#generation++
    this.#greeted = false
    let welcomed = false
    const url = this.#url()
    const { token, webSocket: kind } = this.#options
    const socket = new AgentSocket({
      ...{ environment: this.#environment, url, token, kind: typeof kind === 'function' ? kind : WebSocket },
      opened: () => this.#urge(),
      heard: (messages, size, since) => {
        welcomed ||= messages.some(({ type }) => type === 'welcome')
        void CallContext.none.run(() => this.#heard(messages, size, since))
      },
      closed: (code, why) => {
        this.#hangUp()
        if (!this.#open) return
        if (refusals.includes(code) || (!welcomed && !busy.includes(code))) this.#speakPlainly(url)
        else void this.#recover(new ExchangeError(`${url} closed the connection (${code} ${why})`, 0))
        this.#urge()
      },
    })
    this.#socket = socket
    return socket
  }

  async #heard(messages: readonly ServerMessage[], size: number, since = this.#saidAt): Promise<void> {
    const wasConnected = this.#process.connected
    try {
      this.#process.hear(wasConnected ? messages : sinceHello(messages), since)
      const welcome = messages.find(({ type }) => type === 'welcome')
      if (welcome?.type === 'welcome') {
        this.#lease = welcome.lease
        this.#backoff.reset()
        this.#connected.resolve()
        this.#untold = { messages: 0, size: 0 }
        this.#tellAfter(this.#lease / 3)
      }
      if (wasConnected && !this.#process.connected) this.#greeted = false // after a reset
      if (messages.some((it) => 'n' in it)) {
        if (this.#untold.messages === 0) this.#tellAfter(Math.min(TELL, this.#lease / 3))
        this.#untold.messages += messages.length
        this.#untold.size += size
      }
      if (messages.some(({ type }) => type === 'drain')) this.#leave()
    } catch (error) {
      this.#hangUp()
      await this.#recover(error)
    } finally {
      this.#urge()
    }
  }

  #hangUp(): void {
    this.#telling?.cancel()
    this.#socket?.close()
    this.#socket = null
    this.#process.disconnected()
  }

  /** The server takes no WebSocket, or rejected a message: plain requests are used for a while. */
  #speakPlainly(url: string): void {
    this.#generation++
    this.#speakNoMorePlainly(url)
    this.#plain.set(
      url,
      this.#environment.timer(PLAIN, () => this.#speakAgain(url)),
    )
  }

  #speakNoMorePlainly(url: string): void {
    this.#plain.get(url)?.cancel()
    this.#plain.delete(url)
  }

  #speakAgain(url: string): void {
    this.#speakNoMorePlainly(url)
    if (!this.#open || url !== this.#url()) return
    this.#generation++
    this.#process.disconnected()
    this.#urge()
  }

  async #exchange(request: AgentRequest, generation: number): Promise<void> {
    const asked = this.#environment.monotonic()
    try {
      const { messages, after = 0 } = await this.#post(request)
      if (generation === this.#generation) {
        this.#process.taken(request)
        this.#process.hear(messages, asked + after)
        // Requests still under way belong to the former session; their messages would be taken for new ones.
        if (!this.#process.connected) this.#generation++
        // A server that accepts every hello and nothing else does not work, so a hello does not reset the backoff.
        if (request.session !== undefined) this.#backoff.reset()
        if (this.#process.connected) this.#connected.resolve()
        if (messages.some(({ type }) => type === 'drain')) this.#leave()
      }
    } catch (error) {
      if (this.#open && generation === this.#generation) await this.#recover(error, request)
    } finally {
      this.#under--
      this.#urge()
    }
  }

  /** The server stops: the next one is told which attempts run. */
  #leave(): void {
    this.#generation++
    this.#hangUp()
    this.#at = (this.#at + 1) % this.#urls.length
  }

  /** Uses the next server after a delay; unacknowledged answers are sent again. */
  async #recover(error: unknown, request?: AgentRequest): Promise<void> {
    this.#failed(error)
    const status = error instanceof ExchangeError ? error.status : 0
    if (request && (status === 400 || status === 413 || status === 422)) this.#process.refused(request, error as Error)
    this.#leave()
    this.#pausing = true
    const wait = Math.max(this.#backoff.next(), error instanceof ExchangeError ? error.after : 0)
    await delay(this.#environment, wait * (0.5 + this.#environment.random() / 2), this.#ended.signal)
    this.#pausing = false
    this.#urge()
  }

  async #post(request: AgentRequest): Promise<AgentResponse> {
    const { token, fetch = globalThis.fetch } = this.#options
    const url = `${this.#url().replace(/\/$/, '')}/api/v1/agents/exchange`
    const over = new AbortController()
    const abort = () => over.abort()
    const timer = this.#environment.timer((request.wait ?? 0) + PATIENCE, abort)
    this.#ended.signal.addEventListener('abort', abort, { once: true })
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(request),
        signal: over.signal,
        redirect: 'error',
      })
      const said = await readText(response)
      if (response.ok) return answerIn(said, url)
      const after = Number(response.headers.get('retry-after') ?? 0)
      throw new ExchangeError(`${url} answered ${response.status}: ${said.slice(0, 500)}`, response.status, {
        after: Number.isFinite(after) ? Math.min(after * 1_000, LONGEST_AGAIN) : 0,
      })
    } catch (cause) {
      if (cause instanceof ExchangeError) throw cause
      // Nothing answers; whatever answers later may take a WebSocket.
      this.#speakNoMorePlainly(this.#url())
      throw new ExchangeError(`${url} gave no answer: ${reasonOf(cause)}`, 0, { cause })
    } finally {
      timer.cancel()
      this.#ended.signal.removeEventListener('abort', abort)
    }
  }

  #failed(error: unknown): void {
    const { onError } = this.#options
    if (onError) onError(error)
    else process.emitWarning(error instanceof Error ? error : new Error(String(error)))
  }
}
