import type { TLSSocket } from 'node:tls'
import type { Address, Channel, ChannelEar, ChannelKeys, Network, NetworkListener } from './network.ts'

/**
 * A pre-shared key takes the place of certificates, and a fresh key exchange makes recorded traffic useless to anyone who learns the secret
 * later. OpenSSL supports such keys in TLS 1.3, but Node does not.
 */
const SUITE = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
/** Prefix of the key's number in the TLS identity. */
const IDENTITY = 'triarch.direct.2.'
/** How long making a connection may take (ms). */
const PATIENCE = 10_000
/** Bytes of the length that precedes each text. */
const HEAD = 4
/** Largest size of one text (bytes). */
const MOST = 256 * 1024 * 1024
/** Largest number of connections at a time. */
const MOST_CONNECTIONS = 10_000

/** Real connections. Node's modules for them are loaded on first use. */
export function tlsNetwork(): Network {
  return { listen, dial }
}

async function listen(
  { host, port }: Address,
  keys: ChannelKeys,
  accept: (channel: Channel) => ChannelEar,
): Promise<NetworkListener> {
  const { createServer } = await import('node:tls')
  const pskCallback = (_: TLSSocket, identity: string) =>
    identity.startsWith(IDENTITY) ? keys.numbered(Number(identity.slice(IDENTITY.length))) : null
  const server = createServer({ ...SUITE, handshakeTimeout: PATIENCE, pskCallback }, (socket) => {
    const line = new SocketChannel(() => socket)
    line.attach(socket, accept(line))
  })
  server.maxConnections = MOST_CONNECTIONS
  // A client without a key is rejected silently; if a peer breaks off, the other side reports it.
  server.on('tlsClientError', (_, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  server.on('error', () => undefined)
  server.unref()
  const at = server.address()
  return { port: at === null || typeof at === 'string' ? port : at.port, close: () => void server.close() }
}

function dial({ host, port }: Address, keys: ChannelKeys, ear: ChannelEar & { opened(): void }): Channel {
  let socket: TLSSocket | null = null
  const line = new SocketChannel(() => socket)
  void import('node:tls').then(({ connect }) => {
    if (line.closed) return
    const { number, key: psk } = keys.current()
    socket = connect({
      ...SUITE,
      ...{ host, port },
      pskCallback: () => ({ psk, identity: `${IDENTITY}${number}` }),
      // There is no certificate to check: a server without the key does not complete the handshake.
      checkServerIdentity: () => undefined,
    })
    socket.setTimeout(PATIENCE, () => socket?.destroy(new Error('no connection within 10 s')))
    socket.once('secureConnect', () => {
      socket?.setTimeout(0)
      if (!line.closed) ear.opened()
    })
    line.attach(socket, ear)
  })
  return line
}

/** A channel of length-prefixed texts over one socket. */
class SocketChannel implements Channel {
  readonly #socket: () => TLSSocket | null
  #parts: Buffer[] = []
  #size = 0
  closed = false

  constructor(socket: () => TLSSocket | null) {
    this.#socket = socket
  }

  attach(socket: TLSSocket, ear: ChannelEar): void {
    let why = 'the other side ended it'
    socket.setNoDelay(true)
    // A machine that has gone down does not close its connections.
    socket.setKeepAlive(true, PATIENCE)
    socket.on('error', ({ message }) => {
      why = message
    })
    socket.on('end', () => socket.end())
    socket.once('close', () => {
      if (this.closed) return
      this.closed = true
      ear.closed(why)
    })
    socket.on('data', (bytes) => {
      this.#parts.push(bytes)
      this.#size += bytes.length
      this.#read(socket, ear)
    })
  }

  #read(socket: TLSSocket, ear: ChannelEar): void {
    while (!this.closed && this.#size >= HEAD) {
      if ((this.#parts[0]?.length ?? 0) < HEAD) this.#parts = [Buffer.concat(this.#parts)]
      const length = this.#parts[0]?.readUInt32BE(0) ?? 0
      if (length > MOST) return void socket.destroy(new Error(`a text of ${length} bytes is too long`))
      if (this.#size < HEAD + length) return
      const all = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
      const rest = all.subarray(HEAD + length)
      this.#parts = rest.length === 0 ? [] : [rest]
      this.#size = rest.length
      ear.heard(all.toString('utf8', HEAD, HEAD + length))
    }
  }

  get waiting(): number {
    return this.#socket()?.writableLength ?? 0
  }

  send(text: string): void {
    const socket = this.#socket()
    if (this.closed || !socket?.writable) return
    const length = Buffer.byteLength(text)
    const bytes = Buffer.allocUnsafe(HEAD + length)
    bytes.writeUInt32BE(length, 0)
    bytes.write(text, HEAD)
    socket.write(bytes)
  }

  pause(on: boolean): void {
    if (on) this.#socket()?.pause()
    else this.#socket()?.resume()
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.#socket()?.end()
    // A connection whose peer has gone would never end.
    this.#socket()?.setTimeout(PATIENCE, () => this.#socket()?.destroy())
  }
}
