import { type Action, finalizeKey } from '../definition/action.ts'
import type { Agent } from '../definition/agent.ts'
import type { Middleware } from '../definition/middleware.ts'
import type { Environment } from '../environment/environment.ts'
import type { Json } from '../kernel/json.ts'
import type { Outcome, Reply } from '../kernel/message.ts'
import type { StepRequest } from '../store/port.ts'
import { wrapped } from './around.ts'
import { Attempt, actionHandler, finalizeHandler, type Handler } from './attempt.ts'

export interface HostedAttempt {
  request: StepRequest
  completeBy: number
  heartbeatWithin: number | null
  beat: (progress: Json | undefined, checkpoint: Json | undefined) => void
  done: (reply: Reply) => void
}

export interface HostOptions {
  environment: Environment
  node: string
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** What is around the attempts of an action in tasks of this workflow. */
  around: (action: string, workflow: string, version: string) => readonly Middleware[]
  /** Told when code answers after nobody waited any more. */
  late: () => void
  /** Whether the node's lease holds by its own clock. Past it others may have taken over what it was about to start. */
  leased: () => boolean
  /** Told when a slot is free again after all were taken. */
  freed?: () => void
}

/** Runs attempts of one agent in this process, never more at once than its concurrency. */
export class AgentHost {
  readonly name: string
  readonly #options: HostOptions
  readonly #concurrency: number
  readonly #handlers = new Map<string, Handler>()
  readonly #running = new Map<string, Attempt>()
  /** Actions with a concurrency of their own, and how many attempts of each there are. */
  readonly #limits = new Map<string, { most: number; taken: number }>()
  #taken = 0
  #open = true
  #idle: (() => void)[] = []

  /** Without an agent: the host of local steps. */
  constructor(options: HostOptions, agent: Agent | null) {
    this.name = agent?.name ?? ''
    this.#options = options
    this.#concurrency = agent?.concurrency ?? Number.POSITIVE_INFINITY
    for (const action of agent?.actions.values() ?? []) {
      this.#handlers.set(action.key, actionHandler(action as Action<unknown, unknown>))
      const { concurrency } = action.definition
      if (concurrency !== undefined) this.#limits.set(action.key, { most: concurrency, taken: 0 })
      const finalize = finalizeHandler(action as Action<unknown, unknown>)
      if (finalize) this.#handlers.set(finalizeKey(action.key), finalize)
    }
  }

  get free(): number {
    return this.#open ? this.#concurrency - this.#taken : 0
  }

  /** Takes a slot for an attempt that starts once its request is durable. */
  reserve(action: string): boolean {
    if (this.free <= 0 || !this.#handlers.has(action) || this.room(action) <= 0) return false
    this.#taken++
    this.count(action)
    return true
  }

  /** Takes up to `most` slots for attempts still to be found in the queue; how many it took. */
  hold(most: number): number {
    const slots = Math.min(this.free, most)
    this.#taken += slots
    return slots
  }

  /** Gives back held slots that nothing was found for. */
  unhold(slots: number): void {
    this.#taken -= slots
    if (this.#taken === 0) for (const wake of this.#idle.splice(0)) wake()
  }

  /** The actions it knows, as step requests name them. */
  get actions(): string[] {
    return [...this.#handlers.keys()]
  }

  /** Those that have a concurrency of their own. */
  get limited(): string[] {
    return [...this.#limits.keys()]
  }

  /** How many more attempts of the action there may be, as far as it is up to the action. */
  room(action: string): number {
    const limit = this.#limits.get(action)
    return limit ? limit.most - limit.taken : Number.POSITIVE_INFINITY
  }

  /** An attempt of the action takes one of the slots that are held. */
  count(action: string): void {
    const limit = this.#limits.get(action)
    if (limit) limit.taken++
  }

  /** Takes a slot for a local step, which has none to wait for: its task holds the place. */
  take(): void {
    this.#taken++
  }

  /** Gives back a slot that was reserved for nothing. */
  release(action: string): void {
    const limit = this.#limits.get(action)
    const full = limit !== undefined && limit.taken-- === limit.most
    if (this.#taken-- === this.#concurrency || full) this.#options.freed?.()
    if (this.#taken === 0) for (const wake of this.#idle.splice(0)) wake()
  }

  /** Starts an attempt in a reserved slot. A local step brings its own handler. */
  start(attempt: HostedAttempt, local?: Handler): void {
    const { request } = attempt
    const handler = local ?? this.#handlers.get(request.action)
    if (!handler || !this.#options.leased()) return this.release(request.action)
    const { environment } = this.#options
    // Nobody waits for it any more, or soon nobody will: a process that stood still must not start what others gave up.
    if (environment.now() >= attempt.completeBy) {
      const error = {
        name: 'TriarchError',
        code: 'STEP_TIMEOUT',
        message: 'complete-by passed before the attempt started',
      }
      return this.#end(attempt, { kind: 'failed', error, retryable: true, lost: 'death' }, null)
    }
    const key = attemptKey(request.task, request.step)
    const running = new Attempt(environment, attempt, this.#options, (outcome) => {
      if (this.#running.get(key) === running) this.#running.delete(key)
      this.#end(attempt, outcome, running)
    })
    this.#running.set(key, running)
    const chain = this.#options.around(request.action, request.workflow, request.version)
    running.start(chain.length === 0 ? handler : wrapped(handler, chain, request))
  }

  #end({ request, done }: HostedAttempt, outcome: Outcome, ran: Attempt | null): void {
    const { environment, node } = this.#options
    const { step, operation, attempt } = request
    this.release(request.action)
    done({
      type: 'reply',
      step,
      operation,
      attempt,
      outcome,
      startedAt: ran?.startedAt ?? null,
      endedAt: environment.now(),
      node,
      ...(ran?.checkpoint !== undefined && { checkpoint: ran.checkpoint }),
    })
  }

  abort(task: string, step: number, reason: unknown): void {
    this.#running.get(attemptKey(task, step))?.abort(reason)
  }

  /** The step's owner is gone or gave it up: stop listening. */
  abandon(task: string, step: number, reason: unknown): void {
    this.#running.get(attemptKey(task, step))?.abandon(reason)
  }

  /** The attempt of this very request, if it still runs. */
  attempt(request: StepRequest): Attempt | undefined {
    const running = this.#running.get(attemptKey(request.task, request.step))
    return running?.is(request) ? running : undefined
  }

  /** Takes no new work; resolves when nothing runs any more. */
  drained(): Promise<void> {
    this.#open = false
    if (this.#taken === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  abortAll(reason: unknown): void {
    for (const attempt of this.#running.values()) attempt.abort(reason)
  }
}

function attemptKey(task: string, step: number): string {
  return `${task}:${step}`
}
