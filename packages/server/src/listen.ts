import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Duration, TriarchError } from 'triarch'
import { known, type Settings } from './options.ts'
import { isLoopback } from './request/origin.ts'

/**
 * Where a server listens.
 * @example const where: ListenOptions = { port: 8080, host: '0.0.0.0' }
 */
export interface ListenOptions {
  /** 0: one that is free; 7070. */
  port?: number
  /** A name or an address of this machine. All but loopback need `authenticate` or `keys`; '127.0.0.1'. */
  host?: string
  /** Signals that end the process well: the server drains, then the engine stops. None: `[]`; SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[]
  /**
   * How long the server goes on as before when SIGTERM asked the process to end, while readiness is 503 already: load balancers need that time
   * to send requests elsewhere. Another signal ends it. Up to '1h'; '5s', and '0s' on loopback.
   */
  shutdownDelay?: Duration
}

/**
 * A server that listens.
 * @example
 * const server = createServer(triarch)
 * const { url, close } = await server.listen({ port: 8080 })
 * console.log(`${url}/api/v1/openapi.json`)
 */
export interface Listening {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** As `close` of the server. */
  close(): Promise<void>
}

/** What Node itself bounds of a request (ms, bytes). */
const bounds = { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 10_000, maxHeaderSize: 16 * 1024 }
/** A connection on which nothing moves for so long, besides what a request may wait, is cut (ms). */
const SILENCE = 60_000
/** The same while the server drains: for one that is to be answered, and for one that has not asked yet (ms). */
const DRAINING = { answered: 20_000, unasked: 5_000 }

/** Connections beyond the bound: on them requests for health are answered, and others told that there is no room. */
const SPARE = 16
/** Connections that the system hands over while others are still being closed. */
const SLACK = 256

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown
/** What answers the requests of a listener. */
interface Answering {
  handler: Handler
  upgrade: UpgradeListener
  /** Answers in place of `handler` where there are more connections than there may be. */
  full: Handler
  /** Whether this is a request for health, by its URL. */
  isHealth: (url: string) => boolean
}
/** What takes over a connection that asks for WebSocket. */
export type UpgradeListener = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A node:http server that can be drained, and that nobody fills by saying nothing. */
export class Listener {
  readonly #server: Server
  readonly #most: number
  /** The requests of each that are being answered. */
  readonly #sockets = new Map<Socket, Set<IncomingMessage>>()
  /** Those of them on which nothing is to be answered, longest first. */
  readonly #idle = new Set<Socket>()
  readonly #answers = new Set<ServerResponse>()
  #closed: Promise<void> | null = null

  private constructor(server: Server, most: number, { handler, upgrade, full, isHealth }: Answering) {
    this.#server = server
    this.#most = most
    server.on('connection', (socket: Socket) => this.#connected(socket))
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const { socket } = incoming
      this.#answers.add(outgoing)
      const requests = this.#sockets.get(socket)
      requests?.add(incoming)
      this.#idle.delete(socket)
      outgoing.on('close', () => {
        this.#answers.delete(outgoing)
        requests?.delete(incoming)
        if (requests?.size === 0 && this.#sockets.has(socket)) this.#idle.add(socket)
      })
      const isBeyond = this.#isBeyond(socket)
      if (isBeyond || this.#closed !== null) last(outgoing)
      if (isBeyond && !isHealth(incoming.url ?? '')) full(incoming, outgoing)
      else handler(incoming, outgoing)
    })
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#idle.delete(incoming.socket)
      if (this.#isBeyond(incoming.socket))
        socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      else upgrade(incoming, socket, head)
    })
  }

  /** One too many takes the place of the one on which nothing was to be answered for the longest time, else of one whose request is not there yet. */
  #connected(socket: Socket): void {
    this.#sockets.set(socket, new Set())
    this.#idle.add(socket)
    socket.on('close', () => this.#forget(socket))
    if (this.#sockets.size <= this.#most) return
    const [longest] = this.#idle
    const [unfinished] = longest === socket ? this.#unfinished(socket) : []
    const refused = this.#sockets.size > this.#most + SPARE ? socket : undefined
    const goes = longest !== socket ? longest : (unfinished ?? refused)
    if (!goes) return
    this.#forget(goes)
    goes.destroy()
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket)
    this.#idle.delete(socket)
  }

  /** Those whose requests have not come to their ends, the oldest first: there is nothing to be answered on them yet. */
  *#unfinished(besides: Socket): Iterable<Socket> {
    for (const [socket, requests] of this.#sockets)
      if (socket !== besides && requests.size > 0 && ![...requests].some(({ complete }) => complete)) yield socket
  }

  /** Whether more connections are answered than there may be. */
  #isBeyond(own: Socket): boolean {
    const beyond = this.#sockets.size - this.#idle.size - this.#most
    return beyond > 0 && beyond > [...this.#unfinished(own)].length
  }

  /** Throws INVALID_OPTION, and what node:http does where the address cannot be had. */
  static async open(answering: Answering, where: ListenOptions, { limits }: Settings): Promise<Listener> {
    const { port = 7070, host = '127.0.0.1' } = where
    // Of what asks for another protocol, WebSocket alone is heard; the rest are requests.
    const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket'
    const server = createServer({ ...bounds, shouldUpgradeCallback })
    server.maxConnections = limits.connections + SLACK
    server.timeout = limits.wait + SILENCE
    const listener = new Listener(server, limits.connections, answering)
    server.listen(port, host)
    await once(server, 'listening')
    return listener
  }

  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** Takes no more, answers what is asked, and lets nobody hold that up by saying nothing. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeIdleConnections()
    for (const socket of this.#sockets.keys()) socket.setTimeout(DRAINING.unasked)
    for (const outgoing of this.#answers) {
      outgoing.socket?.setTimeout(DRAINING.answered)
      last(outgoing)
    }
    await closed
  }
}

/** Its connection ends with it: nobody waits for a request that will not be answered. */
function last(outgoing: ServerResponse): void {
  const { socket } = outgoing
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close')
  // A stream cannot say so any more: its connection would rest for as long as one that may be used again.
  else outgoing.once('finish', () => socket?.end())
}

/** Throws UNKNOWN_OPTION; INVALID_OPTION, also where everybody who can reach the host would be let in. */
export function checkListen(where: ListenOptions, asks: boolean): void {
  known('listen', where, ['port', 'host', 'signals', 'shutdownDelay'])
  const { port = 0, host = '127.0.0.1', signals = [] } = where
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new TriarchError('INVALID_OPTION', 'listen: port must be a whole number from 0 to 65535')
  if (typeof host !== 'string' || host === '') throw new TriarchError('INVALID_OPTION', 'listen: host must be a string')
  if (!Array.isArray(signals)) throw new TriarchError('INVALID_OPTION', 'listen: signals must be an array')
  if (!asks && !isLoopback(host))
    throw new TriarchError(
      'INVALID_OPTION',
      `listen: on host "${host.slice(0, 100)}" everybody who reaches it could do everything: give createServer \`authenticate\` or \`keys\`, or listen on 127.0.0.1`,
    )
}
