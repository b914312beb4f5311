// Stands between a process and its database, understands what they say, and breaks what is between them. It knows other
// conversations by their bytes alone.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Statement, Writers } from './exchange.ts'
import { Link, type Weather } from './link.ts'

/** Most connections of one process at a time: more are refused. */
const MOST_LINKS = 200

/** Waits for a commit to swallow the answer to. */
interface Trap {
  wants(statement: Statement): boolean
  caught(statement: Statement): void
}

export class FaultProxy {
  readonly #server: Server
  readonly #target: number
  readonly #links = new Set<Link>()
  readonly #waiting = new Set<Socket>()
  readonly #weather: Weather
  #trap: Trap | null = null
  #refusing = false

  private constructor(target: number, writers: Writers | null) {
    this.#target = target
    this.#weather = {
      delay: 0,
      writers,
      silenced: { client: false, server: false },
      armed: false,
      swallows: (statement) => {
        // One only, whatever else was held back meanwhile.
        const trap = this.#trap
        if (!trap?.wants(statement)) return false
        this.#trap = null
        this.#weather.armed = false
        trap.caught(statement)
        return true
      },
    }
    // Paused from the start: whoever connects during a stall must not be heard.
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket))
  }

  /** Listens on a port of its own, and leads to the port given. `writers`: functions there that write; null: no database is there. */
  static async start(target: number, writers: Writers | null = new Set()): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, writers)
    await new Promise<void>((resolve, reject) => proxy.#server.once('error', reject).listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get links(): number {
    return this.#links.size
  }

  /** Breaks every connection; how many there were. */
  cut(options: { reset?: boolean } = {}): number {
    const { size } = this.#links
    for (const link of [...this.#links]) link.cut(options)
    return size
  }

  /** Every chunk is this late from now on (ms); 0 ends it. */
  delay(ms: number): void {
    this.#weather.delay = ms
  }

  /** A black hole: connections are accepted and stay up, and nothing passes, or nothing that one side says. */
  stall(side?: 'client' | 'server'): void {
    const { silenced } = this.#weather
    if (side !== 'server') silenced.client = true
    if (side !== 'client') silenced.server = true
    for (const link of this.#links) link.heed()
  }

  /** What was under way arrives, late. */
  flow(): void {
    Object.assign(this.#weather.silenced, { client: false, server: false })
    for (const link of this.#links) link.heed()
    for (const socket of [...this.#waiting]) this.#connect(socket)
    this.#waiting.clear()
  }

  /** Every connection is broken and new ones are, too, until `admit`. */
  refuse(): void {
    this.#refusing = true
    this.cut()
  }

  admit(): void {
    this.#refusing = false
  }

  /**
   * The next transaction the server commits (and that is wanted) goes unanswered: the client's connection breaks instead.
   * Resolves with the statement that committed, or with null when none did before the signal. One at a time.
   */
  swallow(signal: AbortSignal, wants: Trap['wants'] = () => true): Promise<Statement | null> {
    return new Promise((resolve) => {
      const give = () => {
        this.#trap = null
        this.#weather.armed = false
        resolve(null)
      }
      if (signal.aborted || this.#trap) return resolve(null)
      signal.addEventListener('abort', give, { once: true })
      const caught = (statement: Statement) => {
        signal.removeEventListener('abort', give)
        resolve(statement)
      }
      this.#trap = { wants, caught }
      this.#weather.armed = true
    })
  }

  async close(): Promise<void> {
    for (const socket of this.#waiting) socket.destroy()
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined)
    if (this.#refusing || this.#links.size + this.#waiting.size >= MOST_LINKS) return void socket.resetAndDestroy()
    const { client, server: far } = this.#weather.silenced
    if (!client || !far) return this.#connect(socket)
    this.#waiting.add(socket)
    socket.once('close', () => this.#waiting.delete(socket))
  }

  #connect(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1')
    server.pause()
    const link = new Link(client, server, this.#weather, () => this.#links.delete(link))
    this.#links.add(link)
    link.heed()
  }
}
