import { once } from 'node:events'
import { type AgentResponse, isTriarchError, type RemoteAgents, type ServerMessage } from 'triarch'
import type { RawData, WebSocket } from 'ws'
import { monotonic, timer } from '../environment.ts'
import type { Settings } from '../options.ts'
import { Refused } from '../problem/problem.ts'
import { check } from '../request/check.ts'
import { parseJson } from '../request/json.ts'
import { AgentExchange, requestOf } from '../wire/agent.ts'

/** Frames of one connection that wait to be dealt with: with more, it is read no further until they are. */
const MOST_WAITING = 16
/** How long a connection may take to say hello, whatever else it says (ms). */
const HELLO = 10_000
/** How long a client may take to close what was ended here (ms): then it is cut. */
export const CLOSING = 2_000
/** Whence its time comes. */
interface Clock {
  monotonic(): number
  /** What it returns takes it back. */
  timer(ms: number, callback: () => void): () => void
}

/** Why a connection ends, as RFC 6455 has it. */
const code = { over: 1_000, away: 1_001, binary: 1_003, wrong: 1_008, later: 1_013 } as const

/**
 * One WebSocket of an agent's process. What it says is taken frame by frame; what it is to hear goes out as soon as there is something,
 * and no faster than it reads: one frame is under way at a time, and the session holds what is not seen.
 */
export class AgentConnection {
  readonly #socket: WebSocket
  readonly #agents: RemoteAgents
  readonly #settings: Pick<Settings, 'limits' | 'onError'>
  readonly #clock: Clock
  /** Who it is; undefined: nobody was asked. */
  readonly #by: string | undefined
  readonly #ended = new AbortController()
  /** Frames are dealt with one after the other, and sent likewise. */
  #taken: Promise<void> = Promise.resolve()
  #said: Promise<void> = Promise.resolve()
  #waiting = 0
  /** Frames that have arrived. */
  #heard = 0
  #session: string | null = null
  #seen = 0
  /** The number of the last message that was sent in this session. */
  #sent = 0
  #patience = HELLO
  #heardAt: number
  /** Since when it has no session. */
  #strangeSince: number
  /** Cancels the cut. */
  #cutting: (() => void) | null = null

  constructor(
    socket: WebSocket,
    agents: RemoteAgents,
    settings: Pick<Settings, 'limits' | 'onError'>,
    clock: Clock = { monotonic, timer },
    by?: string,
  ) {
    this.#socket = socket
    this.#by = by
    this.#agents = agents
    this.#settings = settings
    this.#clock = clock
    this.#heardAt = clock.monotonic()
    this.#strangeSince = this.#heardAt
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      this.#ended.abort()
      this.#cutting?.()
    })
    socket.on('message', (data, isBinary) => {
      if (this.#ended.signal.aborted) return
      this.#heardAt = clock.monotonic()
      this.#heard++
      if (isBinary) return this.#end(code.binary, 'frames are text')
      if (++this.#waiting >= MOST_WAITING) socket.pause()
      this.#taken = this.#taken.then(() => this.#take(data))
    })
  }

  /** One that says nothing for so long has nobody at its other end; one that never says hello is no agent. */
  look(): void {
    const now = this.#clock.monotonic()
    const isStranger = this.#session === null && now - this.#strangeSince > HELLO
    if (isStranger || now - this.#heardAt > this.#patience) this.#socket.terminate()
  }

  /** Its process may be no agent any more: what it runs is for whoever comes with another key within its lease. */
  refuse(): void {
    const session = this.#session
    this.#end(code.wrong, 'this needs credentials that hold')
    // It is given nothing more until then.
    if (session !== null)
      this.#agents.exchange({ session, wait: 0, messages: [{ type: 'drain' }] }).catch(this.#settings.onError)
  }

  /** Says what is to be said, then goodbye. */
  async close(within: number): Promise<void> {
    const over = this.#clock.timer(within, () => this.#socket.terminate())
    const closed = this.#socket.readyState === this.#socket.CLOSED ? null : once(this.#socket, 'close')
    if (this.#session !== null) {
      const last = await this.#agents.listen(this.#session, { seen: this.#seen }).catch(() => null)
      if (last) await this.#say(last)
    }
    this.#end(code.away, 'this server stops')
    await closed
    over()
  }

  async #take(data: RawData): Promise<void> {
    try {
      if (this.#ended.signal.aborted) return
      const text = String(data)
      const request = requestOf(check(AgentExchange, parseJson(text, this.#settings.limits), 'body'))
      const sent = request.session === this.#session ? this.#sent : 0
      const { messages } = await this.#agents.exchange(
        { ...request, wait: 0, ...(this.#by !== undefined && { by: this.#by }) },
        undefined,
        sent,
      )
      const welcome = messages.find(({ type }) => type === 'welcome')
      if (welcome?.type === 'welcome') this.#begin(welcome.session, welcome.lease)
      else if (request.session === this.#session) this.#seen = Math.max(this.#seen, request.seen ?? 0)
      // Who says nothing asks whether anybody is there. Who does not read what is said is not read either.
      await this.#say(messages, request.messages.length === 0)
    } catch (error) {
      this.#failed(error)
    } finally {
      if (--this.#waiting < MOST_WAITING) this.#socket.resume()
    }
  }

  #begin(session: string, lease: number): void {
    this.#session = session
    this.#patience = lease
    this.#seen = 0
    this.#sent = 0
    void this.#listen(session)
  }

  /** Says what is new until the session is another, or is no more. */
  async #listen(session: string): Promise<void> {
    const { signal } = this.#ended
    try {
      while (!signal.aborted && this.#session === session) {
        const since = { seen: this.#seen, sent: this.#sent }
        const messages = await this.#agents.listen(session, { ...since, wait: this.#patience / 2, signal })
        if (this.#session !== session || signal.aborted) return
        if (messages === null) {
          this.#session = null
          this.#strangeSince = this.#clock.monotonic()
          return await this.#say([{ type: 'reset' }])
        }
        await this.#say(messages)
      }
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Resolves when it has left this process. */
  #say(messages: readonly ServerMessage[], always = false): Promise<void> {
    const fresh = messages.filter((it) => !('n' in it) || it.n > this.#sent)
    for (const it of fresh) if ('n' in it) this.#sent = it.n
    if (fresh.length > 0 || always) {
      // What it hears late, its process must not begin: it is told how old this is, by its own clock.
      const after = Math.floor(this.#clock.monotonic() - this.#heardAt)
      const frame = JSON.stringify({ messages: fresh, heard: this.#heard, after } satisfies AgentResponse)
      this.#said = this.#said.then(
        () => new Promise((resolve) => this.#socket.send(frame, () => resolve())), // cut: `close` tells
      )
    }
    return this.#said
  }

  #failed(error: unknown): void {
    if (error instanceof Refused) return this.#end(code.wrong, error.message)
    if (!isTriarchError(error)) this.#settings.onError(error)
    this.#end(code.later, 'ask again')
  }

  /** Nothing that comes later is taken, whether or not the client closes it. */
  #end(status: number, why: string): void {
    this.#ended.abort()
    this.#cutting ??= this.#clock.timer(CLOSING, () => this.#socket.terminate())
    this.#socket.close(
      status,
      Buffer.from(why)
        .subarray(0, 100)
        .toString('utf8')
        .replace(/\ufffd+$/, ''),
    )
  }
}
