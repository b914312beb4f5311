import { finalizeKey } from '../definition/action.ts'
import type { Action, Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import type { Environment } from '../environment/environment.ts'
import type { Json } from '../kernel/json.ts'
import type { Outcome, Reply } from '../kernel/message.ts'
import type { StepRequest } from '../store/port.ts'
import { Attempt, actionHandler, finalizeHandler, type Handler } from './attempt.ts'
import { type Limit, Slots } from './slots.ts'
import { inThreads, type Threads } from './threads.ts'
import { type Dock, SURVIVED } from './trial.ts'
import { wrapped } from './wrapped.ts'

export interface HostedAttempt {
  request: StepRequest
  completeBy: number
  heartbeatWithin: number | null
  beat: (progress?: Json, checkpoint?: Json) => void
  /** It is about to be tried by itself. True: that is durable. */
  begun: () => Promise<boolean>
  /** The process outlived its beginning. */
  survived: () => void
  done: (reply: Reply) => void
}

/** The node's lease. Without it others may have taken over what is about to start. */
export interface Leased {
  /** Whether it holds for sure. */
  holds(): boolean
  /** Asks the store whether it does. */
  sure(): Promise<boolean>
  /** Names what runs, for who watches the event loop; null: nobody does. */
  readonly trace: Trace | null
}

export interface Trace {
  begin(name: string): number
  /** What began last let go of the event loop. */
  outside(): void
  end(place: number): void
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
  lease: Leased
  /** For code that computes; null: it runs here. */
  threads: Threads | null
  /** The one of this process. */
  dock: Dock
  /** Told when a slot is free again after all were taken. */
  freed?: () => void
  /** Told when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
}

/** Code that outlives its attempt keeps its slot for as long again as the attempt was given, but at least so long (ms). */
const LEAST_OVERTIME = 10_000

/** Runs attempts of one agent in this process, never more at once than its concurrency. */
export class AgentHost {
  readonly name: string
  readonly slots: Slots
  readonly #options: HostOptions
  readonly #handlers = new Map<string, Handler>()
  readonly #running = new Map<string, Attempt>()
  /** Slots of code that outlived its attempt. */
  #overtime = new Set<() => void>()
  /** Attempts that start once the lease is sure. */
  readonly #unsure = new Map<string, HostedAttempt>()

  /** Without an agent: the host of local steps. */
  constructor(options: HostOptions, agent: Agent | null) {
    this.name = agent?.name ?? ''
    this.#options = options
    const limits = new Map<string, Limit>()
    for (const action of agent?.actions.values() ?? []) {
      const definition = inThreads(action.definition, options.threads)
      this.#handlers.set(action.key, actionHandler({ key: action.key, definition }))
      const { concurrency } = action.definition
      if (concurrency !== undefined) limits.set(action.key, { most: concurrency, taken: 0 })
      else if (definition.thread && options.threads) limits.set(action.key, options.threads.limit)
      const finalize = finalizeHandler(action as Action<unknown, unknown>)
      if (finalize) this.#handlers.set(finalizeKey(action.key), finalize)
    }
    this.slots = new Slots(agent?.concurrency ?? Number.POSITIVE_INFINITY, limits, () => options.freed?.())
  }

  /** Takes a slot for an attempt that starts once its request is durable. False: none is free, or it does not know the action. */
  reserve(action: string): boolean {
    return this.#handlers.has(action) && this.slots.reserve(action)
  }

  /** The actions it knows, as step requests name them. */
  get actions(): string[] {
    return [...this.#handlers.keys()]
  }

  /** Starts an attempt in a reserved slot. A local step brings its own handler. */
  start(attempt: HostedAttempt, local?: Handler): void {
    const { request } = attempt
    const handler = local ?? this.#handlers.get(request.action)
    if (!handler) return this.slots.release(request.action)
    const { lease } = this.#options
    if (request.trial) return this.#try(attempt, handler, request.trial.strikes)
    if (lease.holds()) return this.#begin(attempt, handler)
    const key = this.#await(attempt)
    void lease.sure().then((sure) => {
      if (this.#unsure.get(key) !== attempt) return // called off meanwhile
      this.#unsure.delete(key)
      if (sure) this.#begin(attempt, handler)
      else this.slots.release(request.action)
    })
  }

  /** By itself, once it is known that it began: if the process dies of it, nobody could say so afterwards. */
  #try(attempt: HostedAttempt, handler: Handler, strikes: number): void {
    const { request } = attempt
    const { dock, lease } = this.#options
    const after = dock.enter(attempt, strikes)
    if (after !== null) return this.#end(attempt, { kind: 'withdrawn', after }, null)
    const key = this.#await(attempt)
    void attempt.begun().then(async (known) => {
      const sure = known && (lease.holds() || (await lease.sure()))
      const wanted = this.#unsure.get(key) === attempt
      if (wanted) this.#unsure.delete(key)
      if (wanted && sure) return this.#begin(attempt, handler)
      dock.leave(attempt)
      if (wanted) this.slots.release(request.action)
    })
  }

  /** One of the same step that still waits to begin was given up by who asks for another. */
  #await(attempt: HostedAttempt): string {
    const { task, step } = attempt.request
    const key = attemptKey(task, step)
    this.#giveUp(key)
    this.#unsure.set(key, attempt)
    return key
  }

  /** Nobody hears of what waited there to begin. */
  #giveUp(key: string): void {
    const waiting = this.#unsure.get(key)
    if (!waiting) return
    this.#unsure.delete(key)
    this.#options.dock.leave(waiting)
    this.slots.release(waiting.request.action)
  }

  #begin(attempt: HostedAttempt, handler: Handler): void {
    const { request } = attempt
    const { environment, lease, dock } = this.#options
    // Nobody waits for it any more, or soon nobody will: a process that stood still must not start what others gave up.
    if (environment.now() >= attempt.completeBy) {
      dock.leave(attempt)
      return this.#end(attempt, notStarted('STEP_TIMEOUT', 'complete-by passed before the attempt started'), null)
    }
    const { trace } = lease
    const key = attemptKey(request.task, request.step)
    let place = -1
    const trial = request.trial
      ? environment.timer(survivalOf(attempt, environment.now()), () => {
          if (dock.leave(attempt)) attempt.survived()
        })
      : null
    const running = new Attempt(environment, attempt, this.#options, (outcome) => {
      if (this.#running.get(key) === running) this.#running.delete(key)
      trial?.cancel()
      dock.leave(attempt)
      if (running.returned) trace?.end(place)
      else this.#outlive(attempt, running, () => trace?.end(place))
      this.#end(attempt, outcome, running)
    })
    this.#running.set(key, running)
    try {
      const chain = this.#options.around(request.action, request.workflow, request.version)
      if (trace) place = trace.begin(`${request.action || request.name} (step ${request.step} of task ${request.task})`)
      running.start(chain.length === 0 ? handler : wrapped(handler, chain, request))
    } catch (error) {
      // Middleware that cannot be put in order: the attempt's own failure, as if its code had thrown.
      const refuse = () => {
        throw error
      }
      running.start({ run: refuse, undo: refuse, verify: refuse })
    }
    trace?.outside()
  }

  /** Its code still runs: the slot is its own until it returns, within bounds. One that never does would close the agent. */
  #outlive(attempt: HostedAttempt, running: Attempt, over: () => void): void {
    const { environment, overrun } = this.#options
    const { request, completeBy } = attempt
    this.slots.take() // besides the one that is given back with the reply
    this.slots.count(request.action)
    const free = () => {
      if (!this.#overtime.delete(free)) return
      timer.cancel()
      over()
      this.slots.release(request.action)
    }
    const grace = Math.max(LEAST_OVERTIME, completeBy - running.startedAt)
    const timer = environment.timer(grace, () => {
      free()
      overrun(request, environment.now() - running.startedAt)
    })
    this.#overtime.add(free)
    running.whenReturned(free)
    if (!this.slots.open) free()
  }

  #end(hosted: HostedAttempt, outcome: Outcome, ran: Attempt | null): void {
    const { request } = hosted
    const { environment, node } = this.#options
    const { step, operation, attempt } = request
    this.slots.release(request.action)
    hosted.done({
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
    const key = attemptKey(task, step)
    this.#running.get(key)?.abort(reason)
    const waiting = this.#unsure.get(key)
    if (!waiting || !this.#unsure.delete(key)) return
    this.#options.dock.leave(waiting)
    this.#end(waiting, notStarted('STEP_CANCELLED', 'the attempt was called off before it started'), null)
  }

  /** The step's owner is gone or gave it up: stop listening. */
  abandon(task: string, step: number, reason: unknown): void {
    const key = attemptKey(task, step)
    this.#running.get(key)?.abandon(reason)
    this.#giveUp(key)
  }

  /** The attempt of this very request, if it still runs. */
  attempt(request: StepRequest): Attempt | undefined {
    const running = this.#running.get(attemptKey(request.task, request.step))
    return running?.is(request) ? running : undefined
  }

  /** Takes no new work. Nobody waits for what outlived its attempt. */
  close(): void {
    this.slots.close()
    for (const free of [...this.#overtime]) free()
  }

  /** Resolves when nothing runs any more. */
  idle(): Promise<void> {
    return this.slots.idle()
  }

  /** Nobody waits for what still runs: its timers must not keep the process from ending. */
  abandonAll(reason: unknown): void {
    this.abortAll(reason)
    for (const attempt of [...this.#running.values()]) attempt.abandon(reason)
  }

  abortAll(reason: unknown): void {
    this.close()
    for (const attempt of this.#running.values()) attempt.abort(reason)
  }
}

/** Before anybody else may take the attempt for lost. */
function survivalOf({ completeBy, heartbeatWithin }: HostedAttempt, now: number): number {
  return Math.min(SURVIVED, (completeBy - now) / 2, (heartbeatWithin ?? Number.POSITIVE_INFINITY) / 2)
}

function notStarted(code: string, message: string): Outcome {
  return { kind: 'failed', error: { name: 'TriarchError', code, message }, retryable: true, lost: 'alive' }
}

function attemptKey(task: string, step: number): string {
  return `${task}:${step}`
}
