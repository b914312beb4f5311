import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import { delay, type Environment, type Timer } from '../environment/environment.ts'
import type { Address, Channel, ChannelKeys, Network } from '../environment/network.ts'
import { isTriarchError } from '../error/error.ts'
import { AgentProcess } from './agent.ts'
import type { AgentHosts } from './agent-hosts.ts'
import { answerIn } from './failure.ts'
import { type AgentResponse, sinceHello } from './message.ts'
import { SentNotSeen } from './sent-not-seen.ts'
import type { RemoteAgents } from './sessions.ts'

/** Delay before an unreachable node is tried again: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000
/** Messages and characters that are received before they are acknowledged; and after how long they are acknowledged in any case (ms). */
const MOST_UNTOLD = { messages: 100, size: 256 * 1024 }
const TELL = 200
/** Most bytes that may wait to be sent, and the delay before trying again when there is no room (ms). */
const MOST_BUFFERED = 1024 * 1024
const NO_ROOM = 20

export interface LinkOptions {
  environment: Environment
  network: Network
  at: Address
  keys: ChannelKeys
  hosts: AgentHosts
  /** Sessions on this node's own store, where attempts of a node that is gone are reported and answered. */
  home: RemoteAgents
  lease: number
  failed: (error: unknown) => void
  /** Called when the link has ended and nothing of it is left. */
  ended: () => void
}

/**
 * Connection from a node with agents to a node that gives them attempts. If it is cut for long, running attempts go on and are reported
 * to the store instead, so that their answers count for whichever node owns the tasks by then.
 */
export class Link {
  readonly #options: LinkOptions
  readonly #process: AgentProcess
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  readonly #over = new AbortController()
  #channel: Channel | null = null
  #ready = false
  #greeted = false
  #sentNotSeen: SentNotSeen
  #untold = { messages: 0, size: 0 }
  #telling: Timer | null = null
  #flushing = false
  #said = 0
  /** When something was last received (monotonic clock), and whether the other side was asked for a sign of life since. */
  #heardAt = 0
  #asked = false
  #doubting: Timer | null = null
  /** Since when the connection is cut (monotonic clock); null: it holds. */
  #cutAt: number | null
  #pausing = false
  #isHome = false
  /** Ends the wait for messages from this node's own store. */
  #listening: AbortController | null = null
  /** The other node is gone, or takes nothing more. */
  #forsaken = false
  #open = true

  constructor(options: LinkOptions) {
    const { environment, hosts: crew, failed } = options
    this.#options = options
    this.#sentNotSeen = new SentNotSeen(environment)
    this.#cutAt = environment.monotonic()
    this.#process = new AgentProcess({ environment, hosts: crew, software: 'triarch', urge: () => this.urge(), failed })
    this.urge()
  }

  /** There may be something to send, for example changed slots. */
  urge(): void {
    if (this.#isHome && this.#process.urgent) this.#listening?.abort()
    if (this.#flushing || !this.#open) return
    this.#flushing = true
    this.#options.environment.soon(() => {
      this.#flushing = false
      CallContext.none.run(() => this.#flush())
    })
  }

  /** The other node no longer exists. */
  forsake(): void {
    this.#forsaken = true
    this.urge()
  }

  /** Takes nothing more. Resolves once all attempts are answered and that is durable. */
  async drain(grace: number): Promise<void> {
    await this.#process.drain(grace, new Promise(() => undefined))
    const farewell = this.#process.farewell()
    if (farewell && !this.#isHome && this.#ready) this.#channel?.send(JSON.stringify(farewell))
    else if (farewell) await this.#options.home.exchange(farewell).catch(() => undefined)
    this.close()
  }

  /** Closes the link: attempts that still run are lost to the node that gave them. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#over.abort()
    this.#listening?.abort()
    this.#hangUp()
    this.#options.ended()
  }

  #flush(): void {
    if (!this.#open || this.#isHome) return
    if (this.#mustGoHome()) return void this.#goHome()
    if (this.#forsaken && this.#channel === null) return this.close()
    if (this.#channel === null) return this.#pausing ? undefined : this.#dial()
    if (!this.#ready) return
    if (!this.#process.connected) {
      if (!this.#greeted) this.#say()
      this.#greeted = true
      return
    }
    const { messages, size } = MOST_UNTOLD
    const isUntold = () => this.#untold.messages >= messages || this.#untold.size >= size
    while (this.#hasRoom && (this.#process.urgent || isUntold())) this.#say()
    if (!this.#hasRoom) this.#options.environment.timer(NO_ROOM, () => this.urge())
  }

  get #hasRoom(): boolean {
    return this.#channel !== null && this.#channel.waiting < MOST_BUFFERED
  }

  #say(): void {
    const request = this.#process.request(0)
    const greets = request.session === undefined
    this.#sentNotSeen.said()
    this.#channel?.send(JSON.stringify(request))
    this.#process.taken(request)
    this.#said = this.#options.environment.monotonic()
    this.#untold = { messages: 0, size: 0 }
    if (!greets) this.#tellAfter(this.#options.lease / 3)
  }

  /** Sends something after `ms`, even if there is nothing to report. */
  #tellAfter(ms: number): void {
    this.#telling?.cancel()
    this.#telling = this.#options.environment.timer(ms, () => {
      if (this.#open && this.#ready && this.#process.connected && !this.#isHome) this.#say()
    })
  }

  #dial(): void {
    const { environment, network, at, keys } = this.#options
    this.#greeted = false
    this.#ready = false
    this.#sentNotSeen = new SentNotSeen(environment)
    const channel: Channel = network.dial(at, keys, {
      opened: () => {
        if (this.#channel !== channel) return
        this.#ready = true
        this.#lives()
        this.#doubt()
        this.urge()
      },
      heard: (text) => {
        if (this.#channel === channel) CallContext.none.run(() => this.#heard(text))
      },
      closed: () => {
        if (this.#channel === channel) this.#cut()
      },
    })
    this.#channel = channel
  }

  #lives(): void {
    this.#heardAt = this.#options.environment.monotonic()
    this.#asked = false
  }

  /**
   * A connection may look open long after the other end is gone. A silent node is asked for a sign of life, and counts as gone if it does
   * not answer; early enough to report running attempts elsewhere before they are given up.
   */
  #doubt(): void {
    const { environment, lease } = this.#options
    const left = this.#heardAt + ((this.#asked ? 2 : 1) * lease) / 3 - environment.monotonic()
    this.#doubting?.cancel()
    this.#doubting = environment.timer(Math.max(0, left), () => {
      const silent = environment.monotonic() - this.#heardAt
      if (silent * 3 >= 2 * lease) {
        this.#cutAt ??= this.#heardAt
        return this.#cut()
      }
      if (silent * 3 >= lease && !this.#asked) this.#ask()
      this.#doubt()
    })
  }

  /** A hello needs no question: it is always answered. */
  #ask(): void {
    this.#asked = true
    const question = this.#process.question()
    if (!question) return
    this.#sentNotSeen.said()
    this.#channel?.send(JSON.stringify(question))
  }

  #heard(text: string): void {
    const { environment, at, failed } = this.#options
    this.#lives()
    const wasConnected = this.#process.connected
    try {
      const response: AgentResponse = answerIn(text, `${at.host}:${at.port}`)
      const { messages } = response
      this.#process.hear(
        wasConnected ? messages : sinceHello(messages),
        this.#sentNotSeen.since(response) ?? this.#said,
      )
      if (this.#process.connected && !wasConnected) {
        this.#cutAt = null
        this.#backoff.reset()
        this.#tellAfter(this.#options.lease / 3)
      }
      if (wasConnected && !this.#process.connected) this.#greeted = false // after a reset
      if (messages.some((it) => 'n' in it)) {
        if (this.#untold.messages === 0) this.#tellAfter(Math.min(TELL, this.#options.lease / 3))
        this.#untold.messages += messages.length
        this.#untold.size += text.length
      }
      if (messages.some(({ type }) => type === 'drain')) {
        this.#forsaken = true
        this.#cut()
      }
    } catch (error) {
      // A node that hosts these agents itself, or speaks another version, is not reported as an error, only retried.
      if (!isTriarchError(error, 'INVALID_OPTION')) failed(error)
      this.#cut()
    }
    this.#cutAt = this.#process.connected ? null : (this.#cutAt ?? environment.monotonic())
    this.urge()
  }

  /** Cuts the connection; it is tried again after a delay. */
  #cut(): void {
    const { environment } = this.#options
    this.#hangUp()
    this.#cutAt ??= environment.monotonic()
    if (!this.#open) return
    this.#pausing = true
    void delay(environment, this.#backoff.next() * (0.5 + environment.random() / 2), this.#over.signal).then(() => {
      this.#pausing = false
      this.urge()
    })
    this.urge()
  }

  #hangUp(): void {
    this.#telling?.cancel()
    this.#doubting?.cancel()
    this.#channel?.close()
    this.#channel = null
    this.#ready = false
    this.#process.disconnected()
  }

  /**
   * Whether attempts or unacknowledged answers have waited long enough to be reported to the store: the node that gave them gives them up
   * after a lease.
   */
  #mustGoHome(): boolean {
    if (this.#process.idle || this.#cutAt === null) return false
    const { environment, lease } = this.#options
    const left = this.#cutAt + lease / 3 - environment.monotonic()
    if (this.#forsaken || left <= 0) return true
    environment.timer(left, () => this.urge()).unref?.()
    return false
  }

  async #goHome(): Promise<void> {
    const { environment, home, lease, failed } = this.#options
    this.#isHome = true
    this.#hangUp()
    try {
      while (this.#open && (!this.#process.idle || this.#process.connected)) {
        if (this.#process.idle) {
          const farewell = this.#process.farewell()
          if (farewell) await home.exchange(farewell)
          break
        }
        const asked = environment.monotonic()
        this.#listening = this.#process.urgent ? null : new AbortController()
        const request = this.#process.request(this.#listening ? lease / 3 : 0)
        const { messages } = await home.exchange(request, this.#listening?.signal)
        this.#listening = null
        if (!this.#open) return
        this.#process.hear(request.session === undefined ? sinceHello(messages) : messages, asked)
        this.#process.taken(request)
      }
    } catch (error) {
      failed(error)
      await delay(environment, AGAIN, this.#over.signal)
    }
    if (!this.#open) return
    this.#process.disconnected()
    this.#isHome = false
    this.urge()
  }
}
