import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RemoteAgents } from 'triarch'
import { WebSocketServer } from 'ws'
import { every } from '../environment.ts'
import type { Settings } from '../options.ts'
import { problemOf, Refused } from '../problem/problem.ts'
import type { Guard } from '../request/guard.ts'
import { checkOrigin } from '../request/origin.ts'
import { checkRight } from '../request/right.ts'
import { AgentConnection, CLOSING } from './connection.ts'

/** What agents speak, and where. */
const PATH = '/api/v1/agents/exchange'
const PROTOCOL = 'triarch.v1'
/** Connections are looked at so often (ms). */
const LOOK = 1_000
/** The part of all connections that one caller may have. */
const PART = 4

/** The WebSockets of agents: the messages of `POST /agents/exchange`, without its requests. */
export class AgentSockets {
  readonly #agents: RemoteAgents
  readonly #guard: Guard
  readonly #settings: Settings
  readonly #sockets: WebSocketServer
  readonly #connections = new Set<AgentConnection>()
  readonly #byCaller = new Map<string, number>()
  #look: (() => void) | null = null
  #closed = false

  constructor(agents: RemoteAgents, guard: Guard, settings: Settings) {
    this.#agents = agents
    this.#guard = guard
    this.#settings = settings
    this.#sockets = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, maxPayload: settings.limits.bytes, perMessageDeflate: false },
      handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
    })
    this.#sockets.on('wsClientError', (_, socket) => socket.destroy())
  }

  /** Takes over a connection that asks for WebSocket, if its request may. `named`: throws where it is not asked by a name of its own. */
  async take(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    named: (request: Request) => void,
  ): Promise<void> {
    socket.on('error', () => socket.destroy())
    let still: () => Promise<void>
    let by: string | undefined
    try {
      this.#checkOpen()
      ;({ still, by } = await this.#check(incoming, named))
      this.#checkOpen()
      this.#checkRoom(by)
    } catch (error) {
      return refuse(socket, problemOf(error, this.#settings.onError).status)
    }
    if (socket.destroyed) return
    this.#sockets.handleUpgrade(incoming, socket, head, (upgraded) => {
      const connection = new AgentConnection(upgraded, this.#agents, this.#settings, undefined, by)
      this.#connections.add(connection)
      this.#count(by, 1)
      this.#look ??= every(LOOK, () => this.#sweep())
      const off = this.#guard.asks ? this.#guard.watch(still, () => connection.refuse()) : () => undefined
      upgraded.on('close', () => {
        off()
        this.#connections.delete(connection)
        this.#count(by, -1)
        if (this.#connections.size > 0) return
        this.#look?.()
        this.#look = null
      })
    })
  }

  /** Whether this is where agents connect. */
  isFor({ url = '' }: IncomingMessage): boolean {
    return url.split('?')[0] === this.#settings.basePath + PATH
  }

  /** Nobody keeps others out by connecting. */
  #checkRoom(by: string | undefined): void {
    const most = Math.ceil(this.#settings.limits.connections / PART)
    if (by !== undefined && (this.#byCaller.get(by) ?? 0) >= most)
      throw new Refused('TOO_MANY_CONNECTIONS', `this caller has its ${most} connections already`)
  }

  #count(by: string | undefined, more: number): void {
    if (by === undefined) return
    const count = (this.#byCaller.get(by) ?? 0) + more
    if (count > 0) this.#byCaller.set(by, count)
    else this.#byCaller.delete(by)
  }

  /** Nobody would end a connection that comes now. */
  #checkOpen(): void {
    if (this.#closed) throw new Refused('STOPPING', 'this server is stopping')
  }

  /** What asks that again, and who it is. Throws what is wrong with the request, as routes do. */
  async #check(
    incoming: IncomingMessage,
    named: (request: Request) => void,
  ): Promise<{ still: () => Promise<void>; by?: string }> {
    const { origins, limits } = this.#settings
    const { url: target = '/', headers } = incoming
    if (target.length > limits.url) throw new Refused('URL_TOO_LONG', `the URL has more than ${limits.url} characters`)
    if (!this.isFor(incoming)) throw new Refused('NO_ROUTE', 'there is nothing at this path')
    const host = headers.host ?? ''
    if (!URL.canParse(target, `http://${host}`)) throw new Refused('INVALID_REQUEST', 'this is no request with a host')
    const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const request = new Request(new URL(target, `http://${host}`), { headers: pairs })
    named(request)
    checkOrigin(request, origins)
    const principal = await this.#guard.who(request)
    checkRight(principal, 'agents')
    const still = async () => checkRight(await this.#guard.who(request), 'agents')
    return { still, ...(principal && { by: principal.id }) }
  }

  #sweep(): void {
    for (const connection of this.#connections) connection.look()
  }

  /** Ends all of them, and takes no more: what is to be said is said first. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#connections].map((connection) => connection.close(CLOSING)))
  }
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}
