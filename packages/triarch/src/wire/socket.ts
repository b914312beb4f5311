import type { Environment, Timer } from '../environment/environment.ts'
import { answerIn } from './failure.ts'
import type { AgentRequest, AgentResponse, ServerMessage } from './message.ts'
import { SentNotSeen } from './sent-not-seen.ts'

export interface AgentSocketOptions {
  environment: Environment
  url: string
  token: string | undefined
  kind: typeof WebSocket
  opened: () => void
  /** `since`: a time at which the server had certainly not sent this yet (monotonic, ms); undefined: not known. */
  heard: (messages: readonly ServerMessage[], size: number, since: number | undefined) => void
  /** Called when the socket is closed. `code`: the other side's reason; 1006: none. */
  closed: (code: number, why: string) => void
}

/** Most bytes that may wait to be sent; beyond that, nothing is sent until there are fewer. */
const MOST_BUFFERED = 1024 * 1024
/** A server that does not answer a question within this time counts as gone (ms). */
const PATIENCE = 10_000
/** A server not heard from for this long is asked for a sign of life when something else is sent to it (ms). */
const QUIET = 2_000

/** A WebSocket to a server, which carries requests one way and messages the other. */
export class AgentSocket {
  readonly #options: AgentSocketOptions
  readonly #socket: WebSocket
  #overdue: Timer | null = null
  #heardAt: number
  readonly #sentNotSeen: SentNotSeen
  #closed = false

  constructor(options: AgentSocketOptions) {
    this.#options = options
    this.#heardAt = options.environment.monotonic()
    this.#sentNotSeen = new SentNotSeen(options.environment)
    const { url, token, kind } = options
    const address = `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/api/v1/agents/exchange`
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#socket = new kind(address, { protocols: ['triarch.v1'], headers } as WebSocketInit)
    this.#expect()
    this.#socket.addEventListener('open', () => {
      this.#heard()
      options.opened()
    })
    this.#socket.addEventListener('message', ({ data }) => {
      this.#heard()
      if (this.#closed) return
      let response: AgentResponse
      try {
        response = answerIn(String(data), url)
      } catch {
        return this.#over(1_007, 'the server said what is no answer')
      }
      options.heard(response.messages, String(data).length, this.#sentNotSeen.since(response))
    })
    this.#socket.addEventListener('close', ({ code, reason }) => this.#over(code, reason))
    this.#socket.addEventListener('error', () => this.#over(1_006, 'the connection failed'))
  }

  get ready(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** False while earlier data has not been sent. */
  get hasRoom(): boolean {
    return this.#socket.bufferedAmount < MOST_BUFFERED
  }

  send({ wait: _, ...request }: AgentRequest): void {
    this.#sentNotSeen.said()
    this.#socket.send(JSON.stringify(request))
    // A server answers a hello and an empty request. It need not answer anything else.
    if (request.session === undefined || request.messages.length === 0) return this.#expect()
    const isQuiet = this.#options.environment.monotonic() - this.#heardAt > QUIET
    if (isQuiet && this.#overdue === null) this.send({ ...request, messages: [] })
  }

  /** Closes the socket; nothing more is received. */
  close(): void {
    this.#closed = true
    this.#overdue?.cancel()
    this.#socket.close()
  }

  #expect(): void {
    this.#overdue ??= this.#options.environment.timer(PATIENCE, () => this.#over(1_006, 'the server says nothing'))
  }

  #heard(): void {
    this.#heardAt = this.#options.environment.monotonic()
    this.#overdue?.cancel()
    this.#overdue = null
  }

  #over(code: number, why: string): void {
    if (this.#closed) return
    this.close()
    this.#options.closed(code, why)
  }
}
