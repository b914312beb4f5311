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
import type { Answer } from './unacknowledged.ts'

/** Takes over attempts that a session runs for a node that no longer owns their tasks. */
export interface Adopts {
  /** `freed` frees the attempt's slot, if it has one already. */
  adopt(session: Session, ticket: string, freed: () => void): void
  heartbeat(session: Session, message: Extract<AgentMessage, { type: 'heartbeat' }>): void
}

export interface SessionOptions {
  environment: Environment
  remotes: Remotes
  /** The keys that sign its tickets. */
  keys: SigningKeys
  /** Makes the resume tokens of its attempts; null: the process makes them. */
  token: ((content: TokenContent) => string) | null
  /** A process that sends nothing for this long counts as dead (ms). */
  lease: number
  /** Largest payload, in bytes of JSON. */
  payload: number
  /**
   * Takes an answer to an attempt that this session was not given. Resolves to whether it counts, or `refused` if the session may not
   * answer it. Rejects if that is not known.
   */
  elsewhere: (session: Session, answer: Answer) => Promise<boolean | 'refused'>
  /** Attempts that the session runs for other nodes. */
  adoptions: Adopts
  failed: (error: unknown) => void
  ended: (session: Session) => void
}

/** An attempt that the session was given. */
interface SessionAttempt {
  attempt: Attempt
  options: AttemptOptions
  freed: () => void
  beat: number
}

/** Most unacknowledged messages; a process that never acknowledges any is disconnected. */
const MOST_UNSEEN = 20_000
/** Most answers to attempts of others that are processed at a time. */
const MOST_ELSEWHERE = 100

/** One process of agents, as this server sees it: its attempts, the messages it has not acknowledged, and whether it is alive. */
export class Session implements AgentLink {
  /** Changes with each hello, so that older requests get no messages of the new session. */
  id: string
  readonly instance: string
  /** The count of the last hello that was taken. */
  #hellos: number
  readonly #options: SessionOptions
  #offers: Map<string, OfferedAgent>
  readonly #given = new Register<string, SessionAttempt>()
  readonly #outbox = new Outbox()
  /** Ends the wait of the waiting request. */
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

  /** Whether the process offers the agent. */
  offers(agent: string): boolean {
    return this.#offers.has(agent)
  }

  /** The hello is late or repeated: a later one was taken, or this very one. */
  isStale({ count }: Extract<AgentMessage, { type: 'hello' }>): boolean {
    return count <= this.#hellos
  }

  /** Takes a new hello. Attempts that the process does not list never arrived. Returns the tickets that this session does not know. */
  resume({ agents, running, count }: Extract<AgentMessage, { type: 'hello' }>): string[] {
    this.#hellos = count
    const known = new Set(running)
    this.id = this.#options.environment.id()
    this.#outbox.clear()
    this.#waiting?.()
    // An attempt requested anew may be given to this session within the loop, so the loop runs over a copy.
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
    // The task's new owner awaits the attempt, so it goes on.
    if (isOut && given.options.work === undefined && isTriarchError(reason, 'NODE_FENCED')) {
      this.#given.delete(ticket)
      return this.#options.adoptions.adopt(this, ticket, given.freed)
    }
    if (isOut) return this.#sayAbort(ticket, reason)
    // The attempt was never sent. The outbox renumbers what follows without a gap.
    this.#answer(ticket, given, { kind: 'withdrawn' })
  }

  #sayAbort(attempt: string, reason: unknown): void {
    const { code = 'STEP_CANCELLED', message = '' } = isTriarchError(reason) ? reason : {}
    const abort = { type: 'abort', attempt, code, message } as const
    this.#outbox.replace(attempt, abort)
    this.#say(abort)
  }

  /** Queues a message. The session ends if too many are unacknowledged. */
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
      given.attempt.heartbeat({}) // contents that cannot be recorded are dropped; it still counts as a heartbeat
    }
  }

  #log({ attempt: ticket, lines }: Extract<AgentMessage, { type: 'log' }>): void {
    const log = this.#given.get(ticket)?.attempt.logFrom(ticket)
    if (!log) return // the attempt was given up, or runs for another node
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

  #answer(ticket: string, { attempt, freed }: SessionAttempt, outcome: Outcome, answer?: Answer): void {
    this.#given.delete(ticket)
    freed()
    attempt.told(outcome, {
      checkpoint: answer && checkpointOf(answer, this.#options.payload),
      recorded: (counts) => answer && this.#acknowledge(ticket, counts),
    })
  }

  /** Answers beyond the limit are dropped; the process sends them again. */
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

  /** Tells the process that its task no longer waits for the attempt. */
  callOff(ticket: string, why: TriarchError = new TriarchError('STEP_LOST', 'the attempt was given up')): void {
    this.#sayAbort(ticket, why)
  }

  /** This server stops: offers no more slots, and sends the process elsewhere. */
  drain(): void {
    for (const name of this.#offers.keys()) this.#credit(name, 0)
    this.#say({ type: 'drain' })
  }

  /**
   * The next messages, as soon as there is a new one. `on`: begins after this message, on a connection. A newer request ends the wait of
   * an older one.
   */
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
      // Messages queued in the same turn of the event loop go out with it.
      await new Promise<void>((resolve) => environment.soon(resolve))
    }
    return this.id === id ? this.#outbox.page(environment.now(), on) : []
  }

  /** The process has shown that it is alive. */
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

  /** Ends the session: unanswered attempts are lost and may have taken effect, except those that were never sent. */
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
