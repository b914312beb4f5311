import type { AgentHost, HostedAttempt } from '../agent/host.ts'
import type { Environment } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Reply } from '../kernel/message.ts'
import type { AgentHosts } from './agent-hosts.ts'
import { AnsweredElsewhere } from './answered.ts'
import { requestFromWire } from './attempt.ts'
import type { Lines } from './lines.ts'
import type { AgentMessage, AgentRequest, RemoteAttempt, ServerMessage } from './message.ts'
import { PROTOCOL } from './message.ts'
import { answerOf, forgotten, noPlace } from './outcome.ts'
import { type Answer, Unacknowledged } from './unacknowledged.ts'

export interface AgentProcessOptions {
  environment: Environment
  /** The hosts that run the attempts. */
  hosts: AgentHosts
  software: string
  /** Called when there is something to send. */
  urge: () => void
  failed: (error: unknown) => void
}

interface Running {
  given: RemoteAttempt
  host: AgentHost
  beat: number
}

/** Most messages in one request, and their bytes (approximate). */
const MOST_MESSAGES = 500
const MOST_BYTES = 512 * 1024
/** The least time for answers to be acknowledged once nothing runs (ms). */
const LAST_WORDS = 1_000

/**
 * The agents' side of the protocol, independent of the transport: runs attempts as any node does, reports their progress, and keeps each
 * answer until it is durable.
 */
export class AgentProcess {
  readonly #options: AgentProcessOptions
  readonly #instance: string
  readonly #running = new Register<string, Running>()
  /** The number of running attempts of each host. */
  readonly #loads = new Map<AgentHost, number>()
  readonly #unacknowledged: Unacknowledged
  readonly #answered: AnsweredElsewhere
  /** Messages that are sent once: the latest heartbeat of each attempt, and the number of slots. */
  readonly #beats = new Map<string, AgentMessage>()
  readonly #told = new Map<string, number>()
  readonly #lines: Lines | null
  #session: string | null = null
  #hellos = 0
  #seen = 0
  /** The server gives up the attempts of a process from which it hears nothing for this long (ms). */
  #lease = Number.POSITIVE_INFINITY
  #draining = false
  /** Most messages in the next request; reduced when a server refuses a request as too large. */
  #portion = MOST_MESSAGES
  #empty: (() => void)[] = []

  constructor(options: AgentProcessOptions) {
    const { environment, hosts: crew } = options
    this.#options = options
    this.#instance = crew.instance
    this.#unacknowledged = new Unacknowledged(environment)
    this.#answered = new AnsweredElsewhere(environment)
    this.#lines = crew.lines
  }

  get #hosts(): Iterable<AgentHost> {
    return this.#options.hosts.hosts()
  }

  get connected(): boolean {
    return this.#session !== null
  }

  /** The connection is lost: the next request begins with a hello. */
  disconnected(): void {
    this.#session = null
    this.#seen = 0
    this.#lines?.disconnected()
    this.#unacknowledged.unheard()
  }

  /** Whether there is more to send than a sign of life. */
  get urgent(): boolean {
    if (this.#session === null || this.#beats.size > 0 || this.#lines?.due) return true
    return this.#unacknowledged.due || this.#credits().length > 0
  }

  /** The messages to send now. What gets lost on the way is sent again after `disconnected`. */
  request(wait: number): AgentRequest {
    const messages: AgentMessage[] = this.#session === null ? [this.#hello()] : []
    let bytes = 0
    if (this.#session !== null && this.#lines) messages.push(...this.#lines.messages(this.#unacknowledged.attempts()))
    for (const answer of this.#unacknowledged.say()) {
      if (messages.length >= this.#portion || bytes > MOST_BYTES) break
      bytes += JSON.stringify(answer).length
      messages.push(answer)
    }
    for (const [attempt, beat] of this.#beats) {
      if (messages.length >= this.#portion || bytes > MOST_BYTES) break
      this.#beats.delete(attempt)
      bytes += JSON.stringify(beat).length
      messages.push(beat)
    }
    for (const [agent, slots] of this.#credits()) {
      this.#told.set(agent, slots)
      messages.push({ type: 'credit', agent, slots })
    }
    return {
      ...(this.#session !== null && { session: this.#session }),
      ...{ seen: this.#seen, wait: this.#session === null ? 0 : wait, messages },
    }
  }

  #hello(): AgentMessage {
    this.#told.clear()
    const agents = [...this.#hosts].map((host) => {
      const slots = this.#slotsOf(host)
      this.#told.set(host.name, slots)
      return { name: host.name, slots, actions: this.#options.hosts.actions(host) }
    })
    const running = [...this.#running.keys(), ...this.#unacknowledged.attempts(), ...this.#answered.names]
    const { software } = this.#options
    const who = { protocol: PROTOCOL, instance: this.#instance, count: ++this.#hellos, software }
    return { type: 'hello', ...who, agents, running }
  }

  #slotsOf(host: AgentHost): number {
    return this.#draining ? 0 : this.#options.hosts.room(host, this.#loads.get(host) ?? 0)
  }

  #credits(): [string, number][] {
    if (this.#session === null) return []
    const now = [...this.#hosts].map((host): [string, number] => [host.name, this.#slotsOf(host)])
    return now.filter(([agent, slots]) => this.#told.get(agent) !== slots)
  }

  /**
   * Takes messages that the server sent to this process after its last hello. `since`: a time at which they had certainly not been sent
   * yet (monotonic, ms). Throws if the server refused the hello.
   */
  hear(messages: readonly ServerMessage[], since: number): void {
    for (const message of messages) {
      if ('n' in message) {
        // A message that is received twice is handled once.
        if (message.n <= this.#seen) continue
        this.#seen = message.n
      }
      this.#take(message, since)
    }
  }

  #take(message: ServerMessage, since: number): void {
    switch (message.type) {
      case 'welcome':
        this.#session = message.session
        this.#seen = 0
        this.#options.hosts.welcomed(message.payload)
        this.#lease = message.lease
        return
      case 'reset':
        return this.disconnected()
      case 'refused':
        throw new TriarchError(
          'INVALID_OPTION',
          `the server refuses these agents (${message.code}): ${message.message}`,
        )
      case 'attempt':
        return this.#start(message, since)
      case 'ack':
        this.#unacknowledged.delete(message.attempt)
        this.#answered.acknowledged(message.attempt, this.#session, this.#lease)
        this.#lines?.forget(message.attempt)
        if (message.code !== undefined)
          this.#options.failed(
            new TriarchError(
              'ATTEMPT_NOT_GIVEN',
              'the server did not take an answer: it gave this process no such attempt',
            ),
          )
        return this.#settled()
      case 'abort':
        return this.#abort(message.attempt, new TriarchError(codeOf(message.code), message.message))
    } // the rest is a drain, which the link handles
  }

  #start({ attempt: name, ...rest }: { attempt: string } & RemoteAttempt, since: number): void {
    if (this.#running.has(name) || this.#unacknowledged.has(name)) return
    // The attempt may have been given up meanwhile as never begun.
    const age = this.#options.environment.monotonic() - since
    if (age > this.#lease || age >= rest.attemptWithin)
      return this.#answer({ type: 'reply', attempt: name, outcome: noPlace })
    const given: RemoteAttempt = { attempt: name, ...rest }
    const { action, attemptWithin, heartbeatWithin = null } = given
    const { environment, hosts: crew } = this.#options
    const host = crew.host(given.agent)
    if (!host?.reserve(action)) return this.#answer({ type: 'reply', attempt: name, outcome: noPlace })
    const running: Running = { given, host, beat: 0 }
    this.#running.set(name, running)
    this.#loads.set(host, (this.#loads.get(host) ?? 0) + 1)
    this.#answered.given(name, this.#session)
    const hosted: HostedAttempt = {
      request: requestFromWire(given),
      completeBy: environment.now() + attemptWithin - age,
      heartbeatWithin,
      ...(given.token !== undefined && { token: given.token }),
      beat: (progress, checkpoint) => this.#beat(name, running, progress, checkpoint),
      begun: async () => true,
      survived: () => undefined,
      done: (reply) => this.#done(name, running, reply),
    }
    this.#lines?.name(hosted.request, name)
    host.start(hosted)
  }

  #beat(attempt: string, running: Running, progress: Json | undefined, checkpoint: Json | undefined): void {
    running.beat++
    const told = { ...(progress !== undefined && { progress }), ...(checkpoint !== undefined && { checkpoint }) }
    const before = this.#beats.get(attempt)
    this.#beats.set(attempt, { ...before, type: 'heartbeat', attempt, beat: running.beat, ...told } as AgentMessage)
    this.#options.urge()
  }

  #done(attempt: string, { host }: Running, reply: Reply): void {
    if (this.#running.delete(attempt)) this.#loads.set(host, (this.#loads.get(host) ?? 0) - 1)
    this.#beats.delete(attempt)
    this.#answer(answerOf(attempt, reply))
  }

  #answer(answer: Answer): void {
    this.#unacknowledged.add(answer)
    this.#options.urge()
  }

  #abort(name: string, reason: TriarchError): void {
    const running = this.#running.get(name)
    if (!running) return this.#unacknowledged.has(name) ? undefined : this.#answer(forgotten(name, reason))
    const { task, step } = running.given
    if (reason.code === 'STEP_CANCELLED') running.host.abort(task, step, reason)
    else running.host.abandon(task, step, reason)
  }

  /** The server took this request. */
  taken({ session, messages }: AgentRequest): void {
    if (session !== undefined && messages.length > 0) this.#portion = Math.min(MOST_MESSAGES, this.#portion * 2)
  }

  /** The server cannot take this request. Requests get smaller; an answer that is refused alone is replaced by a failure. */
  refused({ messages }: AgentRequest, why: Error): void {
    this.#portion = Math.max(1, messages.length >> 1)
    const [message] = messages
    if (messages.length !== 1 || (message?.type !== 'reply' && message?.type !== 'suspend')) return
    const { attempt } = message
    const error = { name: 'TriarchError', code: 'PAYLOAD_TOO_LARGE', message: why.message.slice(0, 1_000) }
    const outcome = { kind: 'failed', error, retryable: false, unknown: true, done: true } as const
    if (message.type === 'reply' && message.outcome.kind === 'failed') this.#unacknowledged.delete(attempt)
    else if (this.#unacknowledged.has(attempt)) this.#answer({ type: 'reply', attempt, outcome })
  }

  /**
   * Takes nothing more and lets attempts finish; those that still run after `grace` ms are aborted. Then waits until all answers are
   * acknowledged.
   */
  async drain(grace: number, said: Promise<unknown>): Promise<void> {
    const { environment, failed, hosts: crew } = this.#options
    this.#draining = true
    const patience = new StopBudget(environment, failed)
    const over = crew.drain(grace, patience)
    this.#options.urge()
    await over
    if (this.#unacknowledged.size > 0)
      await patience.wait(
        Promise.race([said, new Promise<void>((resolve) => this.#empty.push(resolve))]),
        Math.max(grace, LAST_WORDS),
      )
  }

  #settled(): void {
    if (this.#unacknowledged.size === 0) for (const wake of this.#empty.splice(0)) wake()
  }

  /** Nothing runs, and all answers are acknowledged. */
  get idle(): boolean {
    return this.#running.size + this.#unacknowledged.size === 0
  }

  /** The last request, which tells the server that the process leaves. */
  farewell(): AgentRequest | null {
    return this.#words([{ type: 'leave' }])
  }

  /** An empty request, which is always answered. */
  question(): AgentRequest | null {
    return this.#words([])
  }

  #words(messages: AgentMessage[]): AgentRequest | null {
    return this.#session === null ? null : { session: this.#session, seen: this.#seen, wait: 0, messages }
  }
}

function codeOf(code: string): 'STEP_CANCELLED' | 'STEP_LOST' {
  return code === 'STEP_CANCELLED' ? code : 'STEP_LOST'
}
