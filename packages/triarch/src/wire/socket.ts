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
  /** `since`: when the server had not said this yet, for sure (monotonic ms); undefined: it does not tell. */
  heard: (messages: readonly ServerMessage[], size: number, since: number | undefined) => void
  /** It is no more. `code`: what the other side gave as its reason; 1006: none. */
  closed: (code: number, why: string) => void
}

/** What may wait to be sent (bytes): with more, nothing is said until it is less. */
const MOST_BUFFERED = 1024 * 1024
/** A server that says nothing for so long when it is asked whether it is there is not (ms). */
const PATIENCE = 10_000
/** One that was not heard for so long is asked whether it is there, if something else is said to it (ms). */
const QUIET = 2_000

/** A WebSocket to a server: requests go, messages come. */
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

  /** False: what was said is not sent yet. */
  get hasRoom(): boolean {
    return this.#socket.bufferedAmount < MOST_BUFFERED
  }

  send({ wait: _, ...request }: AgentRequest): void {
    this.#sentNotSeen.said()
    this.#socket.send(JSON.stringify(request))
    // A server answers a hello, and what says nothing. To all else it may well be silent.
    if (request.session === undefined || request.messages.length === 0) return this.#expect()
    const isQuiet = this.#options.environment.monotonic() - this.#heardAt > QUIET
    if (isQuiet && this.#overdue === null) this.send({ ...request, messages: [] })
  }

  /** Nothing is heard of it any more. */
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
