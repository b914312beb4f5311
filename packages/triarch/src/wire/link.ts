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

/** After how long a node that cannot be reached is tried again, at first and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000
/** Messages, and their characters, that are heard before the other side is told so; and after how long it is told in any case (ms). */
const MOST_UNTOLD = { messages: 100, size: 256 * 1024 }
const TELL = 200
/** What may wait to be sent (bytes), and how long to wait where it does (ms). */
const MOST_BUFFERED = 1024 * 1024
const NO_ROOM = 20

export interface LinkOptions {
  environment: Environment
  network: Network
  at: Address
  keys: ChannelKeys
  crew: AgentHosts
  /** Where what was begun for a node that is gone is spoken for, and answered: this node's own store. */
  home: RemoteAgents
  lease: number
  failed: (error: unknown) => void
  /** Nothing of it is left. */
  ended: () => void
}

/**
 * From a node that has agents to one that gives them attempts. While the connection is cut, what runs goes on, and is told of to the store
 * instead, as the last server that a process of agents may turn to: so its answer counts whoever owns the task by then.
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
  /** When something was heard last, by the monotonic clock; whether it was asked since if anybody is there. */
  #heardAt = 0
  #asked = false
  #doubting: Timer | null = null
  /** Since when the connection is cut, by the monotonic clock; null: it holds. */
  #cutAt: number | null
  #pausing = false
  #isHome = false
  /** Ends the wait for what this node's own store may have to say. */
  #listening: AbortController | null = null
  /** The other node is no more, or takes nothing more. */
  #forsaken = false
  #open = true

  constructor(options: LinkOptions) {
    const { environment, crew, failed } = options
    this.#options = options
    this.#sentNotSeen = new SentNotSeen(environment)
    this.#cutAt = environment.monotonic()
    this.#process = new AgentProcess({ environment, crew, software: 'triarch', urge: () => this.urge(), failed })
    this.urge()
  }

  /** There may be something to say, other slots for one. */
  urge(): void {
    if (this.#isHome && this.#process.urgent) this.#listening?.abort()
    if (this.#flushing || !this.#open) return
    this.#flushing = true
    this.#options.environment.soon(() => {
      this.#flushing = false
      CallContext.none.run(() => this.#flush())
    })
  }

  /** Its node is not there any more. */
  forsake(): void {
    this.#forsaken = true
    this.urge()
  }

  /** Takes nothing more. Resolves once all that ran is answered, and that is durable. */
  async drain(grace: number): Promise<void> {
    await this.#process.drain(grace, new Promise(() => undefined))
    const farewell = this.#process.farewell()
    if (farewell && !this.#isHome && this.#ready) this.#channel?.send(JSON.stringify(farewell))
    else if (farewell) await this.#options.home.exchange(farewell).catch(() => undefined)
    this.close()
  }

  /** Says nothing more: what it was given is lost to whoever gave it. */
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

  /** Says something after so long, also if there is nothing to say. */
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
   * A connection may be open at this end long after the other one is gone. Whoever is silent is asked whether it is there, and is not when it
   * does not answer: soon enough to speak for what runs before that is given up.
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

  /** A greeting is a question by itself. */
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
      if (wasConnected && !this.#process.connected) this.#greeted = false // a reset
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
      // One that hosts these agents itself, or speaks another version, is left alone for as long as any.
      if (!isTriarchError(error, 'INVALID_OPTION')) failed(error)
      this.#cut()
    }
    this.#cutAt = this.#process.connected ? null : (this.#cutAt ?? environment.monotonic())
    this.urge()
  }

  /** It is tried again, after a while. */
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

  /** What runs, or waits for its answer to be known, has waited long enough: who gave it gives it up after a lease. */
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
