import type { Attempt, AttemptOptions, Relayed } from '../agent/attempt.ts'
import type { AgentLink, Remotes } from '../agent/remote.ts'
import type { LogFields } from '../definition/log.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Outcome } from '../kernel/message.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { agentOf } from '../value/name.ts'
import type { TokenContent } from '../value/token.ts'
import type { AgentMessage, NumberedMessage, OfferedAgent, ServerMessage } from './message.ts'
import { Outbox } from './outbox.ts'
import { checkpointOf, outcomeOf } from './outcome.ts'
import { writeTicket } from './ticket.ts'

type Answer = Extract<AgentMessage, { type: 'reply' | 'suspend' }>

/** Who speaks for attempts that a session runs and was not given by who owns their tasks now. */
export interface Adopts {
  /** `freed`: its place, if it has one already. */
  adopt(session: Session, ticket: string, freed: () => void): void
  heartbeat(session: Session, message: Extract<AgentMessage, { type: 'heartbeat' }>): void
}

export interface SessionOptions {
  environment: Environment
  remotes: Remotes
  /** What its tickets are signed by. */
  keys: SigningKeys
  /** Makes the resume tokens of its attempts; null: whoever runs them makes them. */
  token: ((content: TokenContent) => string) | null
  /** One that says nothing for so long is taken for dead (ms). */
  lease: number
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** An answer to an attempt that this session was not given: true, if it counts. Rejects when that is not known. `refused`: it may not answer it. */
  elsewhere: (session: Session, answer: Answer) => Promise<boolean | 'refused'>
  /** Attempts that it runs and was not given, or not by who owns their tasks now. */
  adoptions: Adopts
  failed: (error: unknown) => void
  ended: (session: Session) => void
}

/** An attempt that the session was given. */
interface Given {
  attempt: Attempt
  options: AttemptOptions
  freed: () => void
  beat: number
}

/** Messages that were not seen: one who never says that it saw any is no agent. */
const MOST_UNSEEN = 20_000
/** Answers to attempts of others that are looked into at a time. */
const MOST_ELSEWHERE = 100

/** One process of agents, as this server sees it: what it was given, what it was told and has not seen, and whether it lives. */
export class Session implements AgentLink {
  /** Another after each hello: who asked before has no part in what is said then. */
  id: string
  readonly instance: string
  /** Of the hellos of its process, the last one heard. */
  #hellos: number
  readonly #options: SessionOptions
  #offers: Map<string, OfferedAgent>
  readonly #given = new Register<string, Given>()
  readonly #outbox = new Outbox()
  /** Ends the wait of the request that waits. */
  #waiting: (() => void) | null = null
  readonly #bornAt: number
  #heardAt: number
  #expiry: Timer
  #open = true
  #elsewhere = 0

  constructor(options: SessionOptions, { instance, agents, count }: Extract<AgentMessage, { type: 'hello' }>) {
    const { environment, lease } = options
    this.#options = options
    this.id = environment.id()
    this.instance = instance
    this.#hellos = count
    this.#bornAt = environment.monotonic()
    this.#heardAt = this.#bornAt
    this.#offers = new Map()
    this.#expiry = environment.timer(lease, () => this.#expire())
    this.#offer(agents)
  }

  /** Its process has the agent, as it says. */
  offers(agent: string): boolean {
    return this.#offers.has(agent)
  }

  /** It is late, or comes again: its process has said another one since, or knows that this one was heard. */
  isStale({ count }: Extract<AgentMessage, { type: 'hello' }>): boolean {
    return count <= this.#hellos
  }

  /** Says hello anew: what it was sent and does not know of, it never got. The tickets that this session does not know. */
  resume({ agents, running, count }: Extract<AgentMessage, { type: 'hello' }>): string[] {
    this.#hellos = count
    const known = new Set(running)
    this.id = this.#options.environment.id()
    this.#outbox.clear()
    this.#waiting?.()
    // What is asked for again may be given to it within this loop.
    for (const [ticket, given] of [...this.#given]) {
      if (!known.has(ticket)) this.#answer(ticket, given, { kind: 'withdrawn' })
      else if (given.attempt.aborted !== undefined) this.#sayAbort(ticket, given.attempt.aborted)
    }
    this.#offer(agents)
    return running.filter((ticket) => !this.#given.has(ticket))
  }

  #offer(agents: readonly OfferedAgent[]): void {
    const { remotes } = this.#options
    const gone = [...this.#offers.keys()].filter((name) => !agents.some((it) => it.name === name))
    this.#offers = new Map(agents.map((it) => [it.name, it]))
    remotes.offer(this, [
      ...gone.map((agent) => ({ agent, slots: 0, actions: [] })),
      ...agents.map(({ name, slots, actions }) => ({ agent: name, slots, actions })),
    ])
  }

  give(attempt: Attempt, options: AttemptOptions, { freed, under }: Parameters<AgentLink['give']>[2]): Relayed {
    const { request, completeBy, heartbeatWithin } = options
    const { remotes, keys, token } = this.#options
    const { task, step, operation, idempotencyKey } = request
    const agent = agentOf(request.action)
    const place = { node: remotes.node ?? '', work: options.work ?? null, agent, at: attempt.startedAt }
    const ticket = under ?? writeTicket(keys, { ...place, task, step, operation, attempt: request.attempt })
    this.#given.set(ticket, { attempt, options, freed, beat: 0 })
    const { attempt: number, trial: _, event, ...rest } = request
    const given: NumberedMessage = {
      ...{ type: 'attempt', attempt: ticket, agent, number, ...rest },
      ...(token && { token: token({ task, step, key: idempotencyKey }) }),
      attemptWithin: 0,
      ...(event && { signal: event }),
      ...(heartbeatWithin !== null && { heartbeatWithin }),
    }
    if (under === undefined) this.#say(given, completeBy, 500 + JSON.stringify(request.input).length)
    const session = this
    return {
      get heardAt() {
        return session.#heardAt
      },
      abort: (reason) => this.#abort(ticket, reason),
    }
  }

  #abort(ticket: string, reason: unknown): void {
    const given = this.#given.get(ticket)
    if (!given) return
    const isOut = !this.#outbox.withdraw(ticket)
    // Who owns its task now awaits it: it goes on.
    if (isOut && given.options.work === undefined && isTriarchError(reason, 'NODE_FENCED')) {
      this.#given.delete(ticket)
      return this.#options.adoptions.adopt(this, ticket, given.freed)
    }
    if (isOut) return this.#sayAbort(ticket, reason)
    // Nobody has heard of it yet. The numbers stay without a gap.
    this.#answer(ticket, given, { kind: 'withdrawn' })
  }

  #sayAbort(attempt: string, reason: unknown): void {
    const { code = 'STEP_CANCELLED', message = '' } = isTriarchError(reason) ? reason : {}
    const abort = { type: 'abort', attempt, code, message } as const
    this.#outbox.replace(attempt, abort)
    this.#say(abort)
  }

  /** The session ends if nobody ever sees what it is told. */
  #say(message: NumberedMessage, completeBy = 0, size = 300): void {
    if (!this.#open) return
    if (this.#outbox.length >= MOST_UNSEEN) return this.end()
    this.#outbox.add(message, completeBy, size)
    this.#waiting?.()
  }

  receive(message: AgentMessage): void {
    switch (message.type) {
      case 'hello':
        return
      case 'credit':
        return this.#credit(message.agent, message.slots)
      case 'drain':
        for (const name of this.#offers.keys()) this.#credit(name, 0)
        return
      case 'heartbeat':
        return this.#heartbeat(message)
      case 'log':
        return this.#log(message)
      case 'leave':
        return this.end('stop')
      default:
        return this.#answered(message)
    }
  }

  #credit(agent: string, slots: number): void {
    const offer = this.#offers.get(agent)
    if (offer) this.#options.remotes.offer(this, [{ agent, slots, actions: offer.actions }])
  }

  #heartbeat(message: Extract<AgentMessage, { type: 'heartbeat' }>): void {
    const { attempt: ticket, beat, progress, checkpoint } = message
    const given = this.#given.get(ticket)
    if (!given) return this.#options.adoptions.heartbeat(this, message)
    if (beat <= given.beat) return
    given.beat = beat
    try {
      given.attempt.heartbeat({ progress, checkpoint })
    } catch {
      given.attempt.heartbeat({}) // what cannot be recorded is not; it lives all the same
    }
  }

  #log({ attempt: ticket, lines }: Extract<AgentMessage, { type: 'log' }>): void {
    const log = this.#given.get(ticket)?.attempt.logFrom(ticket)
    if (!log) return // it was given up, or runs for another node
    const now = this.#options.environment.now()
    for (const { ago, fields, dropped = 0, ...line } of lines)
      log.take({ ...line, at: now - ago, fields: (fields ?? {}) as LogFields, dropped })
  }

  #answered(answer: Answer): void {
    const { payload, remotes } = this.#options
    const { attempt: ticket } = answer
    const given = this.#given.get(ticket)
    if (!given) return void this.#answeredElsewhere(answer)
    const { action, operation } = given.options.request
    const outcome = remotes.judged(agentOf(action), outcomeOf(answer, operation, payload))
    this.#answer(ticket, given, outcome, answer)
  }

  #answer(ticket: string, { attempt, freed }: Given, outcome: Outcome, answer?: Answer): void {
    this.#given.delete(ticket)
    freed()
    attempt.told(outcome, {
      checkpoint: answer && checkpointOf(answer, this.#options.payload),
      recorded: (counts) => answer && this.#acknowledge(ticket, counts),
    })
  }

  /** What is not looked into is sent again. */
  async #answeredElsewhere(answer: Answer): Promise<void> {
    if (this.#elsewhere >= MOST_ELSEWHERE) return
    this.#elsewhere++
    try {
      const counts = await this.#options.elsewhere(this, answer)
      if (counts !== 'refused') return this.#acknowledge(answer.attempt, counts)
      this.#say({ type: 'ack', attempt: answer.attempt, late: true, code: 'ATTEMPT_NOT_GIVEN' })
    } catch (error) {
      this.#options.failed(error)
    } finally {
      this.#elsewhere--
    }
  }

  #acknowledge(attempt: string, counts: boolean): void {
    this.#say({ type: 'ack', attempt, ...(!counts && { late: true }) })
  }

  /** Nobody waits for it, as its task says. */
  callOff(ticket: string, why: TriarchError = new TriarchError('STEP_LOST', 'the attempt was given up')): void {
    this.#sayAbort(ticket, why)
  }

  /** This server stops. */
  drain(): void {
    for (const name of this.#offers.keys()) this.#credit(name, 0)
    this.#say({ type: 'drain' })
  }

  /** What is to be said, as soon as there is something new; `on`: after this, on a connection. A newer request ends the wait of the one before. */
  async take(seen: number, wait: number, signal?: AbortSignal, on = 0): Promise<ServerMessage[]> {
    const { environment } = this.#options
    const { id } = this
    this.#outbox.saw(seen)
    this.#waiting?.()
    if (wait > 0 && this.#open && !signal?.aborted && !this.#outbox.hasNews(on)) {
      await new Promise<void>((resolve) => {
        const over = () => {
          timer.cancel()
          signal?.removeEventListener('abort', over)
          if (this.#waiting === over) this.#waiting = null
          resolve()
        }
        const timer = environment.timer(wait, over)
        signal?.addEventListener('abort', over, { once: true })
        this.#waiting = over
      })
      // What happens in this very moment goes out with it.
      await new Promise<void>((resolve) => environment.soon(resolve))
    }
    return this.id === id ? this.#outbox.page(environment.now(), on) : []
  }

  /** It lives. */
  heard(): void {
    this.#heardAt = this.#options.environment.monotonic()
  }

  get age(): number {
    return this.#options.environment.monotonic() - this.#bornAt
  }

  get open(): boolean {
    return this.#open
  }

  #expire(): void {
    const { environment, lease } = this.#options
    const left = this.#heardAt + lease - environment.monotonic()
    if (left <= 0) this.end()
    else this.#expiry = environment.timer(left, () => this.#expire())
  }

  /** What it was given and has not answered is lost, and may have taken effect; but what was never sent has not. */
  end(lost: 'silence' | 'stop' = 'silence'): void {
    if (!this.#open) return
    this.#open = false
    this.#expiry.cancel()
    const { unsent } = this.#outbox
    this.#outbox.clear()
    this.#options.remotes.leave(this)
    const why = lost === 'stop' ? 'the process of its agent stopped' : 'nothing was heard of its agent'
    const error = { name: 'TriarchError', code: 'STEP_LOST', message: why }
    for (const [ticket, given] of [...this.#given])
      this.#answer(
        ticket,
        given,
        unsent.has(ticket) ? { kind: 'withdrawn' } : { kind: 'failed', error, retryable: true, unknown: true, lost },
      )
    this.#waiting?.()
    this.#options.ended(this)
  }
}
