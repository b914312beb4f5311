import type { Environment } from '../environment/environment.ts'
import type { Channel, ChannelEar } from '../environment/network.ts'
import { isTriarchError } from '../error/error.ts'
import type { AgentRequest, AgentResponse, ServerMessage } from './message.ts'
import type { RemoteAgents } from './sessions.ts'

/** Received texts that wait to be processed; beyond this, reading from the connection pauses. */
const MOST_WAITING = 16

export interface PeerOptions {
  environment: Pick<Environment, 'monotonic'>
  agents: RemoteAgents
  /** How long a session may be silent (ms). */
  lease: number
  failed: (error: unknown) => void
}

/** A connected node with agents, as seen by the node that gives attempts: one connection that carries a session's messages. */
export class Peer implements ChannelEar {
  readonly #channel: Channel
  readonly #options: PeerOptions
  readonly #ended = new AbortController()
  /** Texts are processed one after the other. */
  #taken: Promise<void> = Promise.resolve()
  #waiting = 0
  /** How many texts have arrived, and when the last one did. */
  #heard = 0
  #heardAt: number
  #session: string | null = null
  #seen = 0
  /** The number of the last message sent in this session. */
  #sent = 0

  constructor(channel: Channel, options: PeerOptions) {
    this.#channel = channel
    this.#options = options
    this.#heardAt = options.environment.monotonic()
  }

  heard(text: string): void {
    this.#heardAt = this.#options.environment.monotonic()
    this.#heard++
    if (++this.#waiting === MOST_WAITING) this.#channel.pause(true)
    this.#taken = this.#taken.then(() => this.#take(text))
  }

  closed(): void {
    this.#ended.abort()
  }

  close(): void {
    this.#ended.abort()
    this.#channel.close()
  }

  async #take(text: string): Promise<void> {
    try {
      if (this.#ended.signal.aborted) return
      const request = JSON.parse(text) as AgentRequest
      const sent = request.session === this.#session ? this.#sent : 0
      const { messages } = await this.#options.agents.exchange({ ...request, wait: 0 }, undefined, sent)
      const welcome = messages.find(({ type }) => type === 'welcome')
      if (welcome?.type === 'welcome') this.#begin(welcome.session)
      else if (request.session === this.#session) this.#seen = Math.max(this.#seen, request.seen ?? 0)
      // An empty request asks for a sign of life and is always answered.
      this.#say(messages, request.messages.length === 0)
    } catch (error) {
      this.#fail(error)
    } finally {
      if (--this.#waiting < MOST_WAITING) this.#channel.pause(false)
    }
  }

  #begin(session: string): void {
    this.#session = session
    this.#seen = 0
    this.#sent = 0
    void this.#listen(session)
  }

  /** Sends new messages until the session ends or is replaced. */
  async #listen(session: string): Promise<void> {
    const { signal } = this.#ended
    const { agents, lease } = this.#options
    try {
      while (!signal.aborted && this.#session === session) {
        const messages = await agents.listen(session, { seen: this.#seen, sent: this.#sent, wait: lease / 2, signal })
        if (this.#session !== session || signal.aborted) return
        if (messages !== null) this.#say(messages)
        else {
          this.#session = null
          this.#say([{ type: 'reset' }])
        }
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #say(messages: readonly ServerMessage[], always = false): void {
    const fresh = messages.filter((it) => !('n' in it) || it.n > this.#sent)
    for (const it of fresh) if ('n' in it) this.#sent = it.n
    if (fresh.length === 0 && !always) return
    // The other side must not begin an attempt that arrives late, so it is told how old the message may be, by this node's clock.
    const after = Math.floor(this.#options.environment.monotonic() - this.#heardAt)
    this.#channel.send(JSON.stringify({ messages: fresh, heard: this.#heard, after } satisfies AgentResponse))
  }

  /** A stopping node takes nothing; other errors are reported. Either way the other side connects anew. */
  #fail(error: unknown): void {
    if (!this.#ended.signal.aborted && !isTriarchError(error, 'NODE_STOPPED')) this.#options.failed(error)
    this.close()
  }
}
