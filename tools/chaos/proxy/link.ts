// One client's connection, the server's for it, and all that passes between them.
import type { Socket } from 'node:net'
import { Conversation, committed, mayCommit, type Statement, type Writers } from './exchange.ts'
import { type Frame, Framer, openingOf } from './frame.ts'

/** What a proxy does to its links at present. */
export interface Weather {
  /** Every chunk is this late (ms). */
  delay: number
  /** Nothing that these say passes, and nobody is told. */
  silenced: { client: boolean; server: boolean }
  /** Asked about a commit whose answer is at hand: true swallows it. */
  swallows(statement: Statement): boolean
  /** Functions of PostgreSQL that write; null: another protocol, of which nothing is read along. */
  writers: Writers | null
  /** A commit's answer is to be swallowed as soon as there is one. */
  armed: boolean
}

export class Link {
  readonly #client: Socket
  readonly #server: Socket
  readonly #weather: Weather
  readonly #conversation = new Conversation()
  readonly #fromClient = new Framer({ untyped: true })
  readonly #fromServer = new Framer({ untyped: false })
  /** The part of an answer that is kept back until it is known whether it tells of a commit. */
  #held: Frame[] = []
  /** Some of the current answer has been passed on. */
  #begun = false

  constructor(client: Socket, server: Socket, weather: Weather, closed: () => void) {
    this.#client = client
    this.#server = server
    this.#weather = weather
    const toServer = conveyor(client, server, weather, () => weather.silenced.client)
    const toClient = conveyor(server, client, weather, () => weather.silenced.server)
    const { writers } = weather
    client.on('data', (chunk) => (writers ? this.#guard(() => this.#ask(chunk, toServer)) : toServer(chunk)))
    server.on('data', (chunk) =>
      writers ? this.#guard(() => this.#answer(chunk, toClient, writers)) : toClient(chunk),
    )
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined) // 'close' follows
      socket.once('end', () => other.end())
      socket.once('close', () => {
        other.destroy()
        closed()
      })
    }
  }

  /** Hears those that the weather lets be heard. */
  heed(): void {
    const { client, server } = this.#weather.silenced
    for (const [socket, silenced] of [
      [this.#client, client],
      [this.#server, server],
    ] as const) {
      if (silenced) socket.pause()
      else socket.resume()
    }
  }

  /** Ends both sides at once; with a reset, as a router that lost its memory would, or as if the other side had hung up. */
  cut({ reset = true }: { reset?: boolean } = {}): void {
    for (const socket of [this.#client, this.#server]) {
      if (reset) socket.resetAndDestroy()
      else socket.destroy()
    }
  }

  #ask(chunk: Buffer, pass: (bytes: Buffer) => void): void {
    this.#fromClient.push(chunk)
    for (let frame = this.#fromClient.next(); frame; frame = this.#fromClient.next()) {
      if (frame.type !== '') this.#conversation.asks(frame)
      else if (openingOf(frame) === 'encryption') {
        // What is encrypted cannot be read along: decline, as servers without certificates do.
        this.#client.write('N')
        continue
      } else this.#fromClient.untyped = openingOf(frame) === 'cancel'
      pass(frame.bytes)
    }
  }

  #answer(chunk: Buffer, pass: (bytes: Buffer) => void, writers: Writers): void {
    this.#fromServer.push(chunk)
    for (let frame = this.#fromServer.next(); frame; frame = this.#fromServer.next()) {
      const current = this.#conversation.current
      const hold =
        this.#held.length > 0 || (this.#weather.armed && !this.#begun && current && mayCommit(current, writers))
      if (hold) this.#held.push(frame)
      else pass(frame.bytes)
      this.#begun = true
      const end = this.#conversation.answers(frame)
      if (!end) continue
      this.#begun = false
      const statement = committed(end.exchange, end.after, writers)
      if (this.#held.length > 0 && statement && this.#weather.swallows(statement)) return this.cut()
      for (const { bytes } of this.#held.splice(0)) pass(bytes)
    }
  }

  /** What is not PostgreSQL's protocol ends the connection, not the proxy. */
  #guard(work: () => void): void {
    try {
      work()
    } catch {
      this.cut()
    }
  }
}

/** Passes bytes on in order, late if the weather says so, and holds the sender back when the receiver is slow. */
function conveyor(from: Socket, to: Socket, weather: Weather, silenced: () => boolean): (bytes: Buffer) => void {
  const waiting: { bytes: Buffer; due: number }[] = []
  const write = (bytes: Buffer) => {
    if (!to.destroyed && !to.write(bytes)) from.pause()
  }
  to.on('drain', () => {
    if (!silenced()) from.resume()
  })
  const next = () => {
    const first = waiting[0]
    if (!first) return
    const deliver = () => {
      waiting.shift()
      write(first.bytes)
      next()
    }
    setTimeout(deliver, Math.max(0, first.due - performance.now()))
  }
  return (bytes) => {
    if (weather.delay === 0 && waiting.length === 0) return write(bytes)
    waiting.push({ bytes, due: performance.now() + weather.delay })
    if (waiting.length === 1) next()
  }
}
