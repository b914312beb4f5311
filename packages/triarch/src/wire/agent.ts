import type { AgentHost, HostedAttempt } from '../agent/host.ts'
import type { Environment } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Reply } from '../kernel/message.ts'
import type { AgentHosts } from './agent-hosts.ts'
import { AnsweredElsewhere } from './answered.ts'
import { requestOf } from './attempt.ts'
import type { Lines } from './lines.ts'
import type { AgentMessage, AgentRequest, RemoteAttempt, ServerMessage } from './message.ts'
import { PROTOCOL } from './message.ts'
import { answerOf, forgotten, noPlace } from './outcome.ts'
import { type Answer, Unacknowledged } from './unacknowledged.ts'

export interface AgentProcessOptions {
  environment: Environment
  /** Who does the work. */
  crew: AgentHosts
  software: string
  /** There is something to say. */
  urge: () => void
  failed: (error: unknown) => void
}

interface Running {
  given: RemoteAttempt
  host: AgentHost
  beat: number
}

/** Messages in one request, and their bytes (about). */
const MOST_MESSAGES = 500
const MOST_BYTES = 512 * 1024
/** How long answers may take to be acknowledged once nothing runs, at least (ms). */
const LAST_WORDS = 1_000

/**
 * A process of agents without a store, whatever carries its messages: it runs attempts as any node does, says how they go, and keeps
 * each answer until it is durable.
 */
export class AgentProcess {
  readonly #options: AgentProcessOptions
  readonly #instance: string
  readonly #running = new Register<string, Running>()
  /** How many of them each host has. */
  readonly #loads = new Map<AgentHost, number>()
  readonly #unacknowledged: Unacknowledged
  readonly #answered: AnsweredElsewhere
  /** Said once: heartbeats, the latest of each attempt, and how many slots there are. */
  readonly #beats = new Map<string, AgentMessage>()
  readonly #told = new Map<string, number>()
  readonly #lines: Lines | null
  #session: string | null = null
  #hellos = 0
  #seen = 0
  /** The server gives up what it gave to a process of which it hears nothing for so long (ms). */
  #lease = Number.POSITIVE_INFINITY
  #draining = false
  /** Messages in one request: fewer where a server took no more. */
  #portion = MOST_MESSAGES
  #empty: (() => void)[] = []

  constructor(options: AgentProcessOptions) {
    const { environment, crew } = options
    this.#options = options
    this.#instance = crew.instance
    this.#unacknowledged = new Unacknowledged(environment)
    this.#answered = new AnsweredElsewhere(environment)
    this.#lines = crew.lines
  }

  get #hosts(): Iterable<AgentHost> {
    return this.#options.crew.hosts()
  }

  get connected(): boolean {
    return this.#session !== null
  }

  /** Who asks next is somebody else: says hello. */
  disconnected(): void {
    this.#session = null
    this.#seen = 0
    this.#lines?.disconnected()
    this.#unacknowledged.unheard()
  }

  /** Whether there is more to say than that it lives. */
  get urgent(): boolean {
    if (this.#session === null || this.#beats.size > 0 || this.#lines?.due) return true
    return this.#unacknowledged.due || this.#credits().length > 0
  }

  /** What is to be said now; what got lost on the way is said again after `disconnected`. */
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
      return { name: host.name, slots, actions: this.#options.crew.actions(host) }
    })
    const running = [...this.#running.keys(), ...this.#unacknowledged.attempts(), ...this.#answered.names]
    const { software } = this.#options
    const who = { protocol: PROTOCOL, instance: this.#instance, count: ++this.#hellos, software }
    return { type: 'hello', ...who, agents, running }
  }

  #slotsOf(host: AgentHost): number {
    return this.#draining ? 0 : this.#options.crew.room(host, this.#loads.get(host) ?? 0)
  }

  #credits(): [string, number][] {
    if (this.#session === null) return []
    const now = [...this.#hosts].map((host): [string, number] => [host.name, this.#slotsOf(host)])
    return now.filter(([agent, slots]) => this.#told.get(agent) !== slots)
  }

  /**
   * What a server said to this very process since its last hello. `since`: when it had not said it yet, for sure (monotonic ms). Throws
   * what it refused.
   */
  hear(messages: readonly ServerMessage[], since: number): void {
    for (const message of messages) {
      if ('n' in message) {
        // Said twice, it is heard once.
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
        this.#options.crew.welcomed(message.payload)
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
    } // what is left is a drain: its link goes elsewhere
  }

  #start({ attempt: name, ...rest }: { attempt: string } & RemoteAttempt, since: number): void {
    if (this.#running.has(name) || this.#unacknowledged.has(name)) return
    // It may have been given up meanwhile, and found not to have happened.
    const age = this.#options.environment.monotonic() - since
    if (age > this.#lease || age >= rest.attemptWithin)
      return this.#answer({ type: 'reply', attempt: name, outcome: noPlace })
    const given: RemoteAttempt = { attempt: name, ...rest }
    const { action, attemptWithin, heartbeatWithin = null } = given
    const { environment, crew } = this.#options
    const host = crew.host(given.agent)
    if (!host?.reserve(action)) return this.#answer({ type: 'reply', attempt: name, outcome: noPlace })
    const running: Running = { given, host, beat: 0 }
    this.#running.set(name, running)
    this.#loads.set(host, (this.#loads.get(host) ?? 0) + 1)
    this.#answered.given(name, this.#session)
    const hosted: HostedAttempt = {
      request: requestOf(given),
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

  /** The server took this. */
  taken({ session, messages }: AgentRequest): void {
    if (session !== undefined && messages.length > 0) this.#portion = Math.min(MOST_MESSAGES, this.#portion * 2)
  }

  /** The server cannot take this: less at a time, and an answer that it does not take alone is said as a failure. */
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

  /** Takes nothing more, and lets what runs finish; what still runs after `grace` ms is aborted. Then waits until all is said. */
  async drain(grace: number, said: Promise<unknown>): Promise<void> {
    const { environment, failed, crew } = this.#options
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

  /** Nothing runs, and all that was answered is acknowledged. */
  get idle(): boolean {
    return this.#running.size + this.#unacknowledged.size === 0
  }

  /** The last words. */
  farewell(): AgentRequest | null {
    return this.#words([{ type: 'leave' }])
  }

  /** Says nothing, which is always answered. */
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
