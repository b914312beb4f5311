import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns'
import { Agent as PlainAgent, request as plain, type RequestOptions } from 'node:http'
import { Agent as SecureAgent, request as secure } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { TriarchError } from 'triarch'
import { known } from '../options.ts'
import { Networks } from './network.ts'

/**
 * Where calls may go, and how much an answer may have.
 * @example const outbound: OutboundOptions = { allow: ['10.1.0.0/16'], ports: [443, 8443] }
 */
export interface OutboundOptions {
  /** Schemes of URLs; https alone. */
  schemes?: readonly ('https' | 'http')[]
  /** Ports of URLs; those that the schemes have by themselves. */
  ports?: readonly number[]
  /**
   * Networks that may be called though they are not of the public internet, such as `127.0.0.0/8`, `10.1.0.0/16`, `fd00::/8` or a
   * single address; none. Loopback, private, link-local, multicast and reserved addresses are refused, and tunnels to them.
   */
  allow?: readonly string[]
  /** Bytes of an answer's body; 1 MiB. */
  bytes?: number
  /** Connections to each endpoint at the same time, 1 to 10,000; 100. More calls wait for one. */
  connections?: number
  /** Resolves names, as `lookup` of node:dns does, and instead of it. What it gives is checked all the same. */
  lookup?: LookupFunction
}

/** What is sent: a POST. */
export interface OutboundRequest {
  url: URL
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
}

/** What came back, however it is meant. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** As UTF-8; null: it had more bytes than it may. */
  body: string | null
}

/** No answer came. */
export class NoAnswer extends Error {
  /** Nothing left this process: nothing can have happened. */
  readonly unsent: boolean

  constructor(message: string, unsent: boolean, cause?: unknown) {
    super(message, { cause })
    this.unsent = unsent
  }
}

const schemePorts = { https: 443, http: 80 } as const
const BYTES = { standard: 1024 * 1024, most: 1024 ** 3 }
const CONNECTIONS = { standard: 100, most: 10_000 }
/** A connection that is idle for so long is closed (ms): sooner than servers do, so that a call seldom meets one that is being closed. */
const IDLE = 4_000
/** Bytes of all headers of an answer. */
const HEADERS = 16 * 1024

/**
 * The one way by which calls leave: to schemes, ports and addresses that are allowed, each address looked at as it is connected to, by
 * connections of its own. Follows no redirect, unpacks nothing, asks no proxy.
 */
export class Outbound {
  readonly #schemes: readonly string[]
  readonly #ports: readonly number[]
  readonly #networks: Networks
  readonly #bytes: number
  readonly #lookup: LookupFunction
  readonly #agents: { readonly https: SecureAgent; readonly http: PlainAgent }

  /** Throws UNKNOWN_OPTION, INVALID_OPTION. */
  constructor(options: OutboundOptions = {}) {
    known('outbound', options, ['schemes', 'ports', 'allow', 'bytes', 'connections', 'lookup'])
    const { schemes = ['https'], allow = [], lookup = resolve } = options
    if (!Array.isArray(schemes) || schemes.some((it) => it !== 'https' && it !== 'http'))
      throw invalid('schemes must be of "https" and "http"')
    const { ports = schemes.map((it: 'https' | 'http') => schemePorts[it]) } = options
    if (!Array.isArray(ports) || ports.some((it) => !isWhole(it, 65_535)))
      throw invalid('ports must be whole numbers from 1 to 65535')
    if (!Array.isArray(allow)) throw invalid('allow must be an array')
    if (typeof lookup !== 'function') throw invalid('lookup must be a function')
    const { bytes = BYTES.standard, connections = CONNECTIONS.standard } = options
    if (!isWhole(bytes, BYTES.most)) throw invalid(`bytes must be a whole number from 1 to ${BYTES.most}`)
    if (!isWhole(connections, CONNECTIONS.most))
      throw invalid(`connections must be a whole number from 1 to ${CONNECTIONS.most}`)
    this.#schemes = schemes
    this.#ports = ports
    this.#networks = new Networks(allow)
    this.#bytes = bytes
    this.#lookup = this.#guarded(lookup)
    const kept = { keepAlive: true, maxSockets: connections, maxFreeSockets: 10, timeout: IDLE }
    this.#agents = { https: new SecureAgent(kept), http: new PlainAgent(kept) }
  }

  /** Throws INVALID_OPTION for a URL that can never be called. */
  check(url: URL): void {
    const scheme = url.protocol.slice(0, -1)
    const host = hostOf(url)
    if (!this.#schemes.includes(scheme)) throw invalid(`${url.origin}: only ${this.#schemes.join(', ')} may be called`)
    const port = portOf(url)
    if (!this.#ports.includes(port)) throw invalid(`${url.origin}: port ${port} is not among ${this.#ports.join(', ')}`)
    if (url.username !== '' || url.password !== '') throw invalid('a URL must not have credentials in it')
    if (isIP(host) !== 0 && !this.#networks.allow(host)) throw invalid(refusal(host, host))
  }

  /** Rejects with NoAnswer, also when the signal fires. */
  post({ url, headers, body, signal }: OutboundRequest): Promise<Answer> {
    this.check(url)
    const { promise, resolve: answered, reject } = Promise.withResolvers<Answer>()
    let connected = false
    const options: RequestOptions = {
      ...{ method: 'POST', signal, lookup: this.#lookup, maxHeaderSize: HEADERS },
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity' },
    }
    const isSecure = url.protocol === 'https:'
    const request = isSecure
      ? secure(url, { ...options, agent: this.#agents.https })
      : plain(url, { ...options, agent: this.#agents.http })
    const lost = (error: unknown) => reject(new NoAnswer(wordsOf(error), !connected, error))
    request.on('error', lost)
    request.on('socket', (socket: Socket) => {
      const ready = () => {
        // Looked up is not connected: what the socket says is what counts.
        const { remoteAddress } = socket
        if (remoteAddress !== undefined && this.#networks.allow(remoteAddress)) {
          connected = true
          request.end(body)
        } else request.destroy(new Error(refusal(url.hostname, remoteAddress ?? 'nowhere')))
      }
      // One that waited in line for a connection is given one that is there, and is not told so (`reusedSocket`).
      if (!socket.connecting && socket.remoteAddress !== undefined && !isShaking(socket)) ready()
      else socket.once(isSecure ? 'secureConnect' : 'connect', ready)
    })
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      const { statusCode: status = 0, headers: told } = response
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > this.#bytes) {
          answered({ status, headers: told, body: null })
          response.destroy()
        } else chunks.push(chunk)
      })
      response.on('end', () => answered({ status, headers: told, body: Buffer.concat(chunks).toString('utf8') }))
      response.on('error', lost)
      response.on('aborted', () => lost(new Error('the answer was cut off')))
    })
    // The head goes out with the body, once it is known to whom.
    return promise
  }

  /** What a name leads to is looked at where it is connected to: a name that leads elsewhere the next moment gains nothing. */
  #guarded(lookup: LookupFunction): LookupFunction {
    return (host, options: LookupOptions, done) => {
      lookup(host, { ...options, all: true }, (error, found, family) => {
        if (error) return done(error, options.all ? [] : '', 0)
        const all: LookupAddress[] = typeof found === 'string' ? [{ address: found, family: family ?? 4 }] : found
        const bad = all.find(({ address }) => !this.#networks.allow(address))
        const [first] = all
        if (bad || !first)
          return done(new Error(bad ? refusal(host, bad.address) : `${host} has no address`), options.all ? [] : '', 0)
        if (options.all) done(null, all)
        else done(null, first.address, first.family)
      })
    }
  }
}

/** TLS is not agreed on yet. */
function isShaking(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.getProtocol() === null
}

function refusal(host: string, address: string): string {
  const said = host === address ? host : `${host} leads to ${address}, which`
  return `${said} is no address of the public internet, and outbound.allow does not have it`
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? schemePorts[protocol === 'https:' ? 'https' : 'http'] : Number(port)
}

function wordsOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: string }
  return message !== '' ? message : code
}

function isWhole(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `outbound: ${problem}`)
}
