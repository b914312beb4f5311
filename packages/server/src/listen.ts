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

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown
/** What takes over a connection that asks for WebSocket. */
export type UpgradeListener = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A node:http server that can be drained. */
export class Listener {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #answers = new Set<ServerResponse>()
  #closed: Promise<void> | null = null

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.on('request', (_, outgoing: ServerResponse) => {
      this.#answers.add(outgoing)
      outgoing.on('close', () => this.#answers.delete(outgoing))
      if (this.#closed !== null) last(outgoing)
    })
  }

  /** Throws INVALID_OPTION, and what node:http does where the address cannot be had. */
  static async open(
    { handler, upgrade }: { handler: Handler; upgrade: UpgradeListener },
    where: ListenOptions,
    { limits }: Settings,
  ): Promise<Listener> {
    const { port = 7070, host = '127.0.0.1' } = where
    // Of what asks for another protocol, WebSocket alone is heard; the rest are requests.
    const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket'
    const server = createServer({ ...bounds, shouldUpgradeCallback })
    server.maxConnections = limits.connections
    server.timeout = limits.wait + SILENCE
    const listener = new Listener(server)
    server.on('request', handler)
    server.on('upgrade', upgrade)
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
    for (const socket of this.#sockets) socket.setTimeout(DRAINING.unasked)
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
