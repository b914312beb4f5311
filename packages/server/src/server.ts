import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { type RemoteAgents, type Triarch, TriarchError, type Workflow } from 'triarch'
import { appOf } from './app.ts'
import { alarm } from './environment.ts'
import { Held } from './held.ts'
import { checkListen, Listener, type Listening, type ListenOptions, type UpgradeListener } from './listen.ts'
import { Streams } from './live/streams.ts'
import { type ServerOptions, type Settings, settingsOf } from './options.ts'
import { problemOf, Refused, responseOf } from './problem/problem.ts'
import { shared } from './request/cors.ts'
import { Guard } from './request/guard.ts'
import { checkLoopback, checkName, isLoopback } from './request/origin.ts'
import { Reads } from './request/reads.ts'
import type { Site } from './route/route.ts'
import { AgentSockets } from './socket/sockets.ts'
import { Waits } from './waits.ts'

/**
 * Triarch over HTTP, to be mounted or to listen by itself.
 * @example
 * const server: TriarchServer = createServer(triarch, { workflows: [fulfil], keys: true })
 * const { status } = await server.fetch(new Request('http://localhost/api/v1/tasks'))
 */
export interface TriarchServer extends AsyncDisposable {
  /**
   * Answers a request; never rejects. Any framework that knows Request and Response can mount it. Reading it throws INVALID_OPTION where nobody is
   * asked who they are, unless `open` was said; `node` likewise.
   * @example const response = await server.fetch(new Request('http://localhost/api/v1/stats'))
   */
  fetch(request: Request): Promise<Response>
  /**
   * The same for node:http and what is built on it. Nobody may have read the body before.
   * @example
   * import http from 'node:http'
   * http.createServer(server.node).listen(8080, '127.0.0.1')
   */
  node(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
  /**
   * Takes over a connection that an agent wants to make a WebSocket, where `node` or `fetch` is mounted; false: it is for somebody else,
   * and untouched. `listen()` does so by itself.
   * @example
   * import http from 'node:http'
   * const listener = http.createServer(server.node).listen(8080, '127.0.0.1')
   * listener.on('upgrade', (request, socket, head) => {
   *   if (!server.upgrade(request, socket, head)) socket.destroy()
   * })
   */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /**
   * Makes a server of its own, in this process. Asked by SIGTERM or SIGINT, it drains (after `shutdownDelay`), stops the engine, and ends the
   * process; asked again, it ends it at once. Throws UNKNOWN_OPTION; INVALID_OPTION, also for a host other than loopback without `authenticate` and `keys`;
   * NODE_STOPPED after close().
   * @example await createServer(triarch, { workflows: [fulfil] }).listen({ port: 8080 })
   */
  listen(options?: ListenOptions): Promise<Listening>
  /**
   * Takes no more requests, ends waits and streams, answers what is under way. The engine goes on.
   * @example await server.close()
   */
  close(): Promise<void>
}

/**
 * The server of an engine: what a program can do with it, others can do over HTTP. Opens nothing and starts nothing by itself. Throws
 * UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * await triarch.start()
 * const server = createServer(triarch, { workflows: [fulfil] })
 * const { url } = await server.listen({ port: 8080 })
 */
export function createServer(triarch: Triarch, options: ServerOptions = {}): TriarchServer {
  if (typeof triarch?.submit !== 'function')
    throw new TriarchError('INVALID_OPTION', 'createServer: give it a Triarch, and the options after it')
  return new HttpServer(triarch, settingsOf(options))
}

class HttpServer implements TriarchServer {
  readonly #respond: (request: Request, isHeld: boolean) => Promise<Response>
  readonly #fetch: TriarchServer['fetch']
  readonly #node: TriarchServer['node']
  /** Where it is mounted: throws for a request that does not name this server. */
  readonly #check: (request: Request) => void
  readonly #triarch: Triarch
  readonly #settings: Settings
  readonly #guard: Guard
  readonly #waits: Waits
  readonly #streams: Streams
  readonly #agents: RemoteAgents
  readonly #sockets: AgentSockets
  readonly #listeners = new Set<Listener>()
  /** What stops listening to signals. */
  readonly #heeded: (() => void)[] = []
  /** The process was asked to end. */
  #isLeaving = false
  #closed: Promise<void> | null = null

  constructor(triarch: Triarch, settings: Settings) {
    this.#triarch = triarch
    this.#settings = settings
    this.#guard = new Guard(settings.authenticate, settings.keys ? triarch.serving.keyring() : null)
    this.#waits = new Waits(settings.limits.waiting)
    const bytes = new Held(settings.limits.held)
    const codeOf = (error: unknown) => problemOf(error, settings.onError).code
    this.#streams = new Streams(settings.limits, this.#guard, codeOf, bytes)
    const reads = new Reads(settings.limits.reads, () => triarch.serving.moves)
    this.#agents = triarch.serving.remoteAgents()
    this.#sockets = new AgentSockets(this.#agents, this.#guard, settings)
    const isLeaving = () => this.#isLeaving
    const held = {
      ...{ isLeaving, guard: this.#guard, waits: this.#waits, streams: this.#streams, agents: this.#agents },
      ...{ reads, held: bytes },
    }
    const { open } = settings
    this.#check = this.#guard.asks ? () => undefined : (request) => checkName(request, open ?? new Set())
    const app = appOf(siteOf(triarch, settings, held), settings)
    this.#respond = async (request, isHeld) => {
      const stopping = () => this.#refuse(new Refused('STOPPING', 'this server is stopping'))
      return shared(request, this.#isClosed() ? stopping() : await app(request, isHeld), settings.origins)
    }
    this.#fetch = (request) => this.#named(request, this.#check, false)
    this.#node = this.#listenerOf((request) => this.#named(request, this.#check, true))
  }

  get fetch(): TriarchServer['fetch'] {
    this.#checkMounted()
    return this.#fetch
  }

  get node(): TriarchServer['node'] {
    this.#checkMounted()
    return this.#node
  }

  #checkMounted(): void {
    if (!this.#mayBeMounted)
      throw new TriarchError(
        'INVALID_OPTION',
        'mounted like this, everybody who reaches the server could do everything: give createServer `authenticate` or `keys`, say `open: true`, or use listen()',
      )
  }

  get #mayBeMounted(): boolean {
    return this.#guard.asks || this.#settings.open !== null
  }

  async listen(options: ListenOptions = {}): Promise<Listening> {
    checkListen(options, this.#guard.asks)
    const delay = delayOf(options)
    if (this.#isClosed()) throw stopped()
    const isOpen = !this.#guard.asks && isLoopback(options.host ?? '127.0.0.1')
    const named = isOpen ? checkLoopback : () => undefined
    const handler = isOpen ? this.#listenerOf((request) => this.#named(request, named, true)) : this.#node
    const upgrade: UpgradeListener = (incoming, socket, head) => void this.#sockets.take(incoming, socket, head, named)
    const full = this.#listenerOf(async () =>
      this.#refuse(new Refused('TOO_MANY_CONNECTIONS', 'this server answers on as many connections as it has')),
    )
    const { basePath } = this.#settings
    const isHealth = (url: string) =>
      url.startsWith(`${basePath}/health`) || url.startsWith(`${basePath}/api/v1/health`)
    const listener = await Listener.open({ handler, upgrade, full, isHealth }, options, this.#settings)
    this.#listeners.add(listener)
    if (this.#isClosed()) {
      await listener.close()
      throw stopped()
    }
    this.#heed(options.signals ?? ['SIGTERM', 'SIGINT'], delay)
    return { url: listener.url, close: () => this.close() }
  }

  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (!this.#sockets.isFor(incoming)) return false
    const refused = () => {
      throw new Refused('MISDIRECTED', 'this server may not be mounted')
    }
    void this.#sockets.take(incoming, socket, head, this.#mayBeMounted ? this.#check : refused)
    return true
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#waits.close()
    this.#streams.close()
    this.#agents.close()
    for (const off of this.#heeded.splice(0)) off()
    await this.#sockets.close()
    await Promise.all([...this.#listeners].map((listener) => listener.close()))
  }

  #isClosed(): boolean {
    return this.#closed !== null
  }

  /** `delay`: how long SIGTERM lets the server go on as before (ms). */
  #heed(signals: readonly NodeJS.Signals[], delay: number): void {
    let asked = false
    let hurry: (() => void) | null = null
    const end = async (signal: NodeJS.Signals) => {
      if (hurry) return hurry()
      if (!asked) {
        asked = true
        this.#isLeaving = true
        if (signal === 'SIGTERM' && delay > 0)
          await new Promise<void>((resolve) => {
            const cancel = alarm(delay, resolve)
            hurry = () => {
              cancel()
              resolve()
            }
          })
        hurry = null
        await this.#drain()
        await this.#triarch.stop()
      }
      process.exit(0)
    }
    for (const signal of signals) {
      const heard = () => void end(signal)
      process.on(signal, heard)
      this.#heeded.push(() => {
        if (!asked) process.off(signal, heard)
      })
    }
  }

  async #drain(): Promise<void> {
    try {
      await this.close()
    } catch (error) {
      this.#settings.onError(error)
    }
  }

  /** A page whose name somebody leads to this machine is no page of this machine. */
  async #named(request: Request, check: (request: Request) => void, isHeld: boolean): Promise<Response> {
    try {
      check(request)
    } catch (error) {
      return this.#refuse(error)
    }
    return this.#respond(request, isHeld)
  }

  #refuse(error: unknown): Response {
    return responseOf(problemOf(error, this.#settings.onError))
  }

  #listenerOf(fetch: TriarchServer['fetch']): TriarchServer['node'] {
    return getRequestListener(fetch, {
      // The globals of this process are not ours.
      overrideGlobalObjects: false,
      errorHandler: () =>
        this.#refuse(new Refused('INVALID_REQUEST', 'this is no request of HTTP/1.1 with a host and a path')),
    })
  }
}

/** How long a load balancer is given to send requests elsewhere, and how long at most (ms). */
const SHUTDOWN_DELAY = 5_000
const MOST_SHUTDOWN_DELAY = 3_600_000

/** Ms. Throws INVALID_DURATION, INVALID_OPTION. */
function delayOf({ shutdownDelay, host = '127.0.0.1' }: ListenOptions): number {
  if (shutdownDelay === undefined) return isLoopback(host) ? 0 : SHUTDOWN_DELAY
  const delay = typeof shutdownDelay === 'number' ? shutdownDelay : span(shutdownDelay)
  if (!(delay >= 0 && delay <= MOST_SHUTDOWN_DELAY))
    throw new TriarchError('INVALID_OPTION', 'listen: shutdownDelay must be from 0 ms to 1 h')
  return delay
}

function stopped(): TriarchError {
  return new TriarchError('NODE_STOPPED', 'this server is closed')
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

function span(duration: string): number {
  const [, count = '0', unit = 'ms'] = /^([\d.]+)([a-z]+)$/.exec(duration) ?? []
  return Number(count) * (units[unit] ?? 0)
}

function siteOf(
  triarch: Triarch,
  { workflows, limits, unhealthyAt, onError }: Settings,
  held: Pick<Site, 'isLeaving' | 'guard' | 'waits' | 'streams' | 'agents' | 'reads' | 'held'>,
): Site {
  return {
    ...{ triarch, workflows, unhealthyAt, ...held },
    workflow(name, version) {
      const found = workflows.findLast((one) => one.name === name && (version === undefined || one.version === version))
      if (found) return found as Workflow
      const said = version === undefined ? name : `${name}@${version}`
      throw new TriarchError('UNKNOWN_WORKFLOW', `no workflow "${said.slice(0, 200)}" can be started here`)
    },
    problem: (error) => problemOf(error, onError),
    span,
    patience: (wait = '0ms') => Math.min(span(wait), limits.wait),
  }
}
