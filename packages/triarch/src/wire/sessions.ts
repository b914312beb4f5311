import type { Remotes } from '../agent/remote.ts'
import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { Reply } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import type { StateStore } from '../store/port.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import type { TokenContent } from '../value/token.ts'
import { Adoptions, wantedStep } from './adoption.ts'
import { Callers } from './callers.ts'
import type { AgentMessage, AgentRequest, AgentResponse, OfferedAgent, ServerMessage } from './message.ts'
import { PROTOCOL } from './message.ts'
import { checkpointOf, outcomeOf } from './outcome.ts'
import { Session } from './session.ts'
import { readTicket, type Ticket } from './ticket.ts'
import type { Answer } from './unacknowledged.ts'

type Hello = Extract<AgentMessage, { type: 'hello' }>

/**
 * Agents in processes without a store; the building block of a transport such as `@triarch/server`.
 * @example
 * const agents: RemoteAgents = triarch.serving.remoteAgents()
 * const { messages } = await agents.exchange(request)
 */
export interface RemoteAgents {
  /**
   * Takes the messages of an agent's process and answers with the server's. The request must have been checked. Throws NODE_STOPPED if no
   * node hosts agents now, STORE_*. `sent`: the last message that went out on the connection of this request, for connections that lose
   * nothing while they last: the answer begins after it instead of after `seen`.
   * @example const { messages } = await agents.exchange({ session, seen: 7, wait: 5_000, messages: [] })
   */
  exchange(request: AgentRequest, signal?: AbortSignal, sent?: number): Promise<AgentResponse>
  /**
   * The messages for a session after `seen`, as soon as one of them was not sent yet; after `wait` ms, or at once by default, those that
   * there are. For transports that push: the call does not count as a sign of life of the agent's process. `sent`: as for `exchange`.
   * Null: there is no such session.
   * @example const messages = await agents.listen(session, { seen: 7, wait: 5_000 })
   */
  listen(
    session: string,
    options?: { seen?: number; sent?: number; wait?: number; signal?: AbortSignal },
  ): Promise<ServerMessage[] | null>
  /**
   * Tells the connected processes to use another server, and answers waiting requests.
   * @example agents.close()
   */
  close(): void
}

export interface SessionsOptions {
  environment: Environment
  remotes: Remotes
  store: Pick<StateStore, 'reply' | 'post' | 'adoptWork'>
  /** The keys that sign tickets. */
  keys: SigningKeys
  /** Makes resume tokens; null: the connected processes make them. */
  token: ((content: TokenContent) => string) | null
  /** The task's state from its history; null: the history cannot be read. */
  state: (task: string) => Promise<TaskState | null>
  /** Whether this process hosts the agent itself. */
  hosted: (agent: string) => boolean
  payload: number
  lease: number
  /** Called when something was written for tasks that may be owned here. */
  posted: () => void
  /** Called when a process answered an attempt that it was not given. */
  refused: () => void
  failed: (error: unknown) => void
}

/** Most connected processes. */
const MOST_SESSIONS = 10_000

/** The agents' processes that are connected to this one. */
export class Sessions implements RemoteAgents {
  readonly #options: SessionsOptions
  readonly #sessions = new Map<string, Session>()
  readonly #byInstance = new Map<string, Session>()
  readonly #adoptions: Adoptions
  readonly #callers = new Callers()
  /** What each session takes up of its caller's quota. */
  readonly #held = new Map<Session, { by: string; agents: readonly OfferedAgent[] }>()
  #closed = false

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#adoptions = new Adoptions(options)
  }

  async exchange(request: AgentRequest, signal?: AbortSignal, sent?: number): Promise<AgentResponse> {
    const { environment } = this.#options
    const heardAt = environment.monotonic()
    const messages = await this.#answer(request, signal, sent)
    return { messages, after: Math.floor(environment.monotonic() - heardAt) }
  }

  async #answer(request: AgentRequest, signal?: AbortSignal, sent?: number): Promise<ServerMessage[]> {
    const { session: id, seen = 0, wait = 0, messages } = request
    if (this.#options.remotes.node === null || this.#closed)
      throw new TriarchError('NODE_STOPPED', 'no agents are hosted here now')
    const [first] = messages
    if (first?.type === 'hello') return this.#hello(first, messages.slice(1), request.by)
    const session = id === undefined ? undefined : this.#sessions.get(id)
    if (!session) return [{ type: 'reset' }]
    session.heard()
    for (const message of messages) session.receive(message)
    const said = await session.take(seen, Math.min(wait, this.#options.lease / 2), signal, sent)
    return session.open && session.id === id ? said : [{ type: 'reset' }]
  }

  async listen(
    id: string,
    { seen = 0, sent, wait = 0, signal }: Parameters<RemoteAgents['listen']>[1] & object = {},
  ): Promise<ServerMessage[] | null> {
    const session = this.#sessions.get(id)
    if (!session) return null
    const said = await session.take(seen, wait, signal, sent)
    return session.open && session.id === id ? said : null
  }

  close(): void {
    this.#closed = true
    for (const session of this.#sessions.values()) session.drain()
  }

  /** Ends all sessions: their attempts count as lost. */
  end(): void {
    this.#closed = true
    for (const session of [...this.#sessions.values()]) session.end()
  }

  async #hello(hello: Hello, rest: readonly AgentMessage[], by: string | undefined): Promise<ServerMessage[]> {
    const { lease, payload, hosted, keys } = this.#options
    // Its tickets must be verified, and the request may arrive before the node has started.
    await keys.ready()
    const refused = (code: 'PROTOCOL' | 'AGENT_HOSTED' | 'TOO_MANY', message: string): ServerMessage[] => {
      return [{ type: 'refused', code, message }]
    }
    if (hello.protocol !== PROTOCOL) return refused('PROTOCOL', `this server speaks version ${PROTOCOL}`)
    const own = hello.agents.find(({ name }) => hosted(name))
    if (own) return refused('AGENT_HOSTED', `agent "${own.name}" is hosted by this server itself`)
    const before = this.#byInstance.get(hello.instance)
    if (before?.isStale(hello)) return [{ type: 'reset' }]
    if (!before && this.#sessions.size >= MOST_SESSIONS)
      return refused('TOO_MANY', 'too many agents are connected to this server')
    const much = this.#take(before, by, hello.agents)
    if (much !== null) return refused('TOO_MANY', much)
    before?.heard()
    if (before) this.#sessions.delete(before.id)
    const unknown = before ? before.resume(hello) : hello.running
    const session = before ?? this.#begin(hello)
    if (by !== undefined) this.#held.set(session, { by, agents: hello.agents })
    this.#sessions.set(session.id, session)
    // Attempts answered in the same request are not adopted; only those that still run.
    const answered = new Set(rest.map((it) => (it.type === 'reply' || it.type === 'suspend' ? it.attempt : '')))
    await this.#adopt(
      session,
      unknown.filter((it) => !answered.has(it)),
    )
    for (const message of rest) session.receive(message)
    const welcome = { type: 'welcome', protocol: PROTOCOL, session: session.id, lease, payload } as const
    return [welcome, ...(await session.take(0, 0))]
  }

  /** Takes the quota for a hello, in place of what its session had. Null: it is granted; otherwise what exceeds the quota. */
  #take(before: Session | undefined, by: string | undefined, agents: readonly OfferedAgent[]): string | null {
    const held = before && this.#held.get(before)
    if (before) this.#release(before)
    const much = by === undefined ? null : this.#callers.take(by, agents)
    if (much === null || !before || !held) return much
    this.#callers.take(held.by, held.agents)
    this.#held.set(before, held)
    return much
  }

  #release(session: Session): void {
    const held = this.#held.get(session)
    if (held) this.#callers.release(held.by, held.agents)
    this.#held.delete(session)
  }

  #begin(hello: Hello): Session {
    const session = new Session(
      {
        ...this.#options,
        elsewhere: async (it, answer) => {
          const counts = await this.#elsewhere(it, answer)
          this.#adoptions.over(answer.attempt)
          return counts
        },
        adoptions: this.#adoptions,
        ended: (it) => {
          this.#release(it)
          this.#adoptions.leave(it)
          this.#sessions.delete(it.id)
          if (this.#byInstance.get(it.instance) === it) this.#byInstance.delete(it.instance)
        },
      },
      hello,
    )
    this.#byInstance.set(session.instance, session)
    return session
  }

  /** Attempts that the session runs for another node go on for this node, or for the task's owner; those given up are cancelled. */
  async #adopt(session: Session, tickets: readonly string[]): Promise<void> {
    const { remotes, store, failed } = this.#options
    const to = remotes.node
    const { keys } = this.#options
    const known = tickets.flatMap((name) => {
      const ticket = readTicket(keys, name)
      return ticket && session.offers(ticket.agent) ? [{ name, ticket }] : []
    })
    for (const { name, ticket } of known) if (ticket.work === null) this.#adoptions.adopt(session, name)
    const found = known.flatMap(({ name, ticket }) =>
      ticket.work === null ? [] : [{ name, ticket, work: ticket.work }],
    )
    if (found.length === 0 || to === null) return
    try {
      const items = await store.adoptWork(
        found.map(({ ticket, work }) => ({ work, node: ticket.node, to, of: markOf(ticket) })),
      )
      for (const [index, { name }] of found.entries()) {
        const item = items[index]
        if (item) remotes.adopt(session, item, name)
        else session.callOff(name)
      }
    } catch (error) {
      failed(error) // until the process reports it again, its old node's lease decides
    }
  }

  /** Takes the answer to an attempt that another node gave to the process, or that was given up here. */
  async #elsewhere(session: Session, answer: Answer): Promise<boolean | 'refused'> {
    const { environment, store, keys, payload, posted } = this.#options
    const ticket = readTicket(keys, answer.attempt)
    // Another node of the store may answer for an agent that it no longer offers.
    const isOwn = ticket && (!this.#held.has(session) || session.offers(ticket.agent))
    if (!isOwn) {
      this.#options.refused()
      return 'refused'
    }
    const { task, step, operation, attempt, work, node } = ticket
    const outcome = outcomeOf(answer, operation, payload)
    const checkpoint = checkpointOf(answer, payload)
    const endedAt = environment.now()
    const message: Reply = {
      ...{ type: 'reply', step, operation, attempt, outcome, startedAt: Math.min(ticket.at, endedAt), endedAt, node },
      ...(checkpoint !== undefined && { checkpoint }),
    }
    if (work !== null) {
      const [counts = false] = await store.reply([{ work, node, of: markOf(ticket), message }])
      if (counts) posted()
      return counts
    }
    if (!(await wantedStep(this.#options.state, ticket))) return false
    const [posting] = await store.post([{ task, message, control: true }])
    posted()
    return posting === 'posted'
  }
}

function markOf({ task, step, operation, attempt }: Ticket) {
  return { task, step, operation, attempt }
}
