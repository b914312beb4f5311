import { defaultThreads } from '../agent/threads.ts'
import type { Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { systemEnvironment } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { AgentProcess } from './agent.ts'
import type { AgentRequest, AgentResponse } from './message.ts'

/**
 * How a process hosts agents without a store.
 * @example const options: ConnectAgentsOptions = { token: 's3cret', agents: [payments] }
 */
export interface ConnectAgentsOptions {
  /** What the server's `authenticate` asks for, sent as a bearer token; none. */
  token?: string
  /** Those that it hosts. */
  agents: readonly Agent[]
  /** Around every attempt here; none. */
  middleware?: readonly Middleware[]
  /** Most threads for actions that run in `thread`: as many as the machine has cores. */
  threads?: number
  /** How long running attempts may go on after close(): '10s'. */
  grace?: Duration
  /** Hears of trouble with the connection, which is tried again; a process warning when not given. */
  onError?: (error: unknown) => void
  /** How requests are sent; the global one. */
  fetch?: typeof fetch
  /** Clock, timers, ids and randomness; the real ones when not given. */
  environment?: Environment
}

/**
 * Agents that are hosted here for servers elsewhere.
 * @example
 * const connection = connectAgents('https://example.com', { token: 's3cret', agents: [payments] })
 * await connection.connected
 * await connection.close({ grace: '30s' })
 */
export interface ConnectedAgents extends AsyncDisposable {
  /** Resolves when a server took them for the first time. Rejects where they were closed before. */
  readonly connected: Promise<void>
  /**
   * Takes no more attempts, lets those that run finish for `grace`, says how they ended, and leaves.
   * @example await connection.close()
   */
  close(options?: { grace?: Duration }): Promise<void>
}

/** Two are under way at most: the one that waits, and one that says something meanwhile. */
const MOST_REQUESTS = 2
/** How long a server is asked to wait for something to say (ms). */
const WAIT = 4_000
/** An answer that takes so much longer is none (ms). */
const PATIENCE = 10_000
/** How long after a failure the next try comes: at first, and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/**
 * Hosts agents in a process that has neither a store nor its credentials: attempts come from a server, and replies go to it, over HTTP.
 * With several URLs the next is asked where one fails; what runs goes on, and is answered there. Throws UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const payments = agent('payments')
 * payments.action('charge', { run: (order: { amount: number }) => api.charge(order) })
 * const connection = connectAgents('https://example.com', { token: 's3cret', agents: [payments] })
 */
export function connectAgents(url: string | readonly string[], options: ConnectAgentsOptions): ConnectedAgents {
  const urls = typeof url === 'string' ? [url] : [...url]
  const known = ['token', 'agents', 'middleware', 'threads', 'grace', 'onError', 'fetch', 'environment'] as const
  checkOptions('connectAgents', options, known)
  if (urls.length === 0 || !urls.every((it) => /^https?:\/\//.test(it) && URL.canParse(it)))
    throw new TriarchError('INVALID_OPTION', 'connectAgents: give the URL of a server, such as "https://example.com"')
  if (!Array.isArray(options.agents) || options.agents.length === 0)
    throw new TriarchError('INVALID_OPTION', 'connectAgents: agents must be a list of what agent() returned')
  if (new Set(options.agents.map(({ name }) => name)).size < options.agents.length)
    throw new TriarchError('DUPLICATE_DEFINITION', 'connectAgents: an agent is given twice')
  if (options.onError !== undefined) checkFunction('connectAgents: onError', options.onError)
  if (options.threads !== undefined) checkInteger('connectAgents: threads', options.threads, 1, 1_000)
  milliseconds(options.grace ?? '10s', 'connectAgents: grace')
  return new Exchange(urls, options)
}

/** A request that failed. `retryable`: the same may succeed later. */
class ExchangeError extends Error {
  readonly status: number
  /** How long the server asked to be left alone (ms). */
  readonly after: number

  constructor(message: string, status: number, after = 0, options: ErrorOptions = {}) {
    super(message, options)
    this.name = 'ExchangeError'
    this.status = status
    this.after = after
  }
}

/** By plain requests, one of which waits at the server. */
class Exchange implements ConnectedAgents {
  readonly #urls: readonly string[]
  readonly #options: ConnectAgentsOptions
  readonly #environment: Environment
  readonly #process: AgentProcess
  readonly #connected = Promise.withResolvers<void>()
  readonly #ended = new AbortController()
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  /** Counts the hellos: an answer to a request from before one counts for nothing. */
  #generation = 0
  #at = 0
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
    this.#process = new AgentProcess({
      environment: this.#environment,
      agents: options.agents,
      middleware: options.middleware ?? [],
      threads: options.threads ?? defaultThreads(),
      software: 'triarch',
      urge: () => this.#urge(),
      failed: (error) => this.#failed(error),
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
    if (farewell) await this.#post(farewell).catch(() => undefined)
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
    // A hello is said alone: what is under way was asked of somebody else.
    const room = this.#process.connected ? this.#under < MOST_REQUESTS : this.#under === 0
    if (!room || (this.#under > 0 && !this.#process.urgent)) return
    if (!this.#process.connected) this.#generation++
    this.#under++
    void CallContext.none.run(() => this.#exchange(this.#process.request(WAIT), this.#generation))
  }

  async #exchange(request: AgentRequest, generation: number): Promise<void> {
    try {
      const { messages } = await this.#post(request)
      if (generation === this.#generation) {
        this.#process.taken(request)
        this.#process.hear(messages)
        // One that takes every hello and nothing else is no server that works.
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

  /** The server stops: the next one is told what runs. */
  #leave(): void {
    this.#generation++
    this.#process.disconnected()
    this.#at = (this.#at + 1) % this.#urls.length
  }

  /** The next server is asked, after a while; what was said is said again. */
  async #recover(error: unknown, request: AgentRequest): Promise<void> {
    this.#failed(error)
    const status = error instanceof ExchangeError ? error.status : 0
    if (status === 400 || status === 413 || status === 422) this.#process.refused(request, error as Error)
    this.#leave()
    this.#pausing = true
    const wait = Math.max(this.#backoff.next(), error instanceof ExchangeError ? error.after : 0)
    await delay(this.#environment, wait * (0.5 + this.#environment.random() / 2), this.#ended.signal)
    this.#pausing = false
  }

  async #post(request: AgentRequest): Promise<AgentResponse> {
    const { token, fetch = globalThis.fetch } = this.#options
    const url = `${(this.#urls[this.#at] ?? '').replace(/\/$/, '')}/api/v1/agents/exchange`
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
      if (response.ok) return (await response.json()) as AgentResponse
      const text = (await response.text()).slice(0, 500)
      const after = Number(response.headers.get('retry-after') ?? 0)
      throw new ExchangeError(
        `${url} answered ${response.status}: ${text}`,
        response.status,
        Number.isFinite(after) ? Math.min(after * 1_000, LONGEST_AGAIN) : 0,
      )
    } catch (cause) {
      if (cause instanceof ExchangeError) throw cause
      throw new ExchangeError(`${url} could not be asked`, 0, 0, { cause })
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
