import type { ActionCache, FillHandle } from '../cache/action-cache.ts'
import { finalizeKey } from '../definition/action.ts'
import { type CachePolicy, toCachePolicy } from '../definition/cache.ts'
import { toConcurrency } from '../definition/concurrency.ts'
import type { Action, Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { AdaptiveConcurrency } from '../flow/adaptive-concurrency.ts'
import { Backlog, PooledBacklog } from '../flow/backlog.ts'
import type { BreakerGate } from '../flow/breaker-gate.ts'
import { Cooldown } from '../flow/cooldown.ts'
import type { GuardedAttempt } from '../flow/local-breaker.ts'
import { type Probation, SURVIVED_AFTER_MS } from '../flow/probation.ts'
import type { RateLimiter } from '../flow/rate-limiter.ts'
import { SharedConcurrency } from '../flow/shared-concurrency.ts'
import { type Limit, Slots } from '../flow/slots.ts'
import { retryAfterOfOutcome } from '../flow/verdict.ts'
import type { Json } from '../kernel/json.ts'
import type { Outcome, Reply } from '../kernel/message.ts'
import { LONGEST_REST } from '../policy/rate.ts'
import type { PausedThere, StepRequest } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import type { TokenContent } from '../value/token.ts'
import { AbandonedCode } from './abandoned-code.ts'
import { Attempt, type Handler, type Relay, type Telling } from './attempt.ts'
import { AttemptReporter } from './attempt-reporter.ts'
import { actionHandler, finalizeHandler } from './handler.ts'
import type { LogSink } from './log.ts'
import { wrapped } from './middleware.ts'
import { inThreads, type Threads } from './threads.ts'

export interface HostedAttempt extends GuardedAttempt {
  /** The number of the attempt's request in the work queue, if it came from there. */
  work?: number
  /** The queue that the request was taken from. */
  queue?: string
  completeBy: number
  /** The attempt already runs in another process and was taken over from another node: no gate is asked. */
  adopted?: boolean
  /** The attempt holds no slot: it waits for an answer from the cache. */
  guest?: boolean
  /** The attempt's outcome is stored in the cache. */
  flight?: FillHandle
  heartbeatWithin: number | null
  /** The attempt's resume token, if it came with the request. */
  token?: string
  beat: (progress?: Json, checkpoint?: Json) => void
  /** The attempt, on probation, is about to begin. Resolves to true once that is durable. */
  begun: () => Promise<boolean>
  /** The process has outlived the beginning of an attempt on probation. */
  survived: () => void
  /** `recorded` is called once the reply is durable, or counts for nothing. */
  done: (reply: Reply, recorded?: Telling['recorded']) => void
}

/** The node's lease. Once it is over, other nodes may have taken over what is about to start. */
export interface Leased {
  /** Whether the lease certainly holds. */
  holds(): boolean
  /** Asks the store whether the lease holds. */
  sure(): Promise<boolean>
  /** Names what runs, so that a blocked event loop can be attributed; null: nothing watches the event loop. */
  readonly trace: Trace | null
}

export interface Trace {
  begin(name: string): number
  /** The code that began last has returned to the event loop. */
  outside(): void
  end(place: number): void
}

export interface HostOptions {
  environment: Environment
  node: string
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** The middleware around attempts of this action in tasks of this workflow. */
  around: (action: string, workflow: string, version: string) => readonly Middleware[]
  telemetry: Telemetry
  /** Receives the log lines of attempts. */
  logs: LogSink
  token: (content: TokenContent) => string
  /** Called when code answers after its attempt is over. */
  late: () => void
  /** Called with errors that such code leaves behind. */
  failed: (error: unknown) => void
  lease: Leased
  /** The cache of answers; null: nothing is cached. */
  answers?: ActionCache | null
  /** Threads for CPU-bound code; null: it runs in the main thread. */
  threads: Threads | null
  /** The probation of this process, shared by all hosts. */
  probation: Probation
  /** Called when a slot is free again after all were taken. */
  freed?: () => void
  /** Called when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
  /** Called when the service behind this queue asks for a cooldown until then. If not given, each step waits by itself. */
  cooldownAsked?: (queue: string, until: number) => void
  /** Called with the outcome of each attempt that ran. */
  ended?: (agent: string, outcome: Outcome) => void
}

/** The gates between a host and its service. */
export interface Gates {
  breakerGate?: BreakerGate | null
  rateLimiter?: RateLimiter | null
  /** Another node has the agent and its queue: this host passes attempts to it and takes none from the queue. */
  elsewhere?: boolean
  /** No store counts here what runs on all nodes; limits over all nodes are applied where the attempts come from. */
  storeless?: boolean
}

/** Runs attempts of one agent in this process, at most as many at once as its concurrency allows. */
export class AgentHost {
  readonly name: string
  readonly slots: Slots
  /** Limits over all nodes. Permits are taken in the store, together with the request from the queue. */
  readonly sharedConcurrency: SharedConcurrency
  #breakerGate: BreakerGate | null
  /** What waits in the agent's queue, as far as this process knows. */
  readonly backlog: Backlog | PooledBacklog
  #rateLimiter: RateLimiter | null
  #paused: PausedThere | null = null
  readonly #cooldown: Cooldown
  /** Null: the concurrency is fixed. */
  #adaptive: AdaptiveConcurrency | null = null
  readonly #options: HostOptions
  /** Cache policies of the actions whose answers are cached. */
  readonly #cached = new Map<string, CachePolicy>()
  #handlers = new Map<string, Handler | Relay>()
  readonly #running = new Register<string, Attempt>()
  /** Also takes requests for actions that are no longer offered. */
  #relay: Relay | null = null
  readonly #abandonedCode: AbandonedCode
  readonly #reporter: AttemptReporter
  /** Attempts that wait here for an instant of their rate limit: each function resumes one if it may begin. */
  readonly #tarrying = new Set<() => void>()
  /** Attempts that wait to begin, for example until the lease is known to hold; by task and step. */
  readonly #unsure = new Register<string, HostedAttempt>()

  /** `agent` null: the host of local steps; or, if a name is given, of an agent in other processes (`offer`). */
  constructor(options: HostOptions, agent: Agent | null, between: Gates = {}, name: string = agent?.name ?? '') {
    const { breakerGate = null, rateLimiter = null, elsewhere = false, storeless = false } = between
    this.name = name
    this.#rateLimiter = rateLimiter
    this.#breakerGate = breakerGate
    this.#options = options
    this.#reporter = new AttemptReporter(name, options)
    this.#cooldown = new Cooldown(name, { ...options, over: () => options.freed?.() })
    this.sharedConcurrency = new SharedConcurrency(name, storeless ? null : agent)
    const limits = new Map<string, Limit>()
    for (const action of agent?.actions.values() ?? []) {
      const definition = inThreads(action.definition, options.threads)
      this.#handlers.set(action.key, actionHandler({ key: action.key, definition }))
      const { concurrency, cache, secrets } = action.definition
      if (cache && options.answers) this.#cached.set(action.key, toCachePolicy(action.key, cache, secrets))
      const { each } = toConcurrency(`${action.key}: concurrency`, concurrency)
      if (each !== null) limits.set(action.key, { most: each, taken: 0 })
      else if (definition.thread && options.threads) limits.set(action.key, options.threads.limit)
      const finalize = finalizeHandler(action as Action<unknown, unknown>)
      if (finalize) this.#handlers.set(finalizeKey(action.key), finalize)
    }
    const most = agent?.concurrency ?? (name === '' ? Number.POSITIVE_INFINITY : 0)
    const { pools = null, fairness } = agent ?? {}
    this.slots = new Slots(most, limits, () => options.freed?.(), pools)
    this.#abandonedCode = new AbandonedCode({ ...options, slots: this.slots })
    const strict = fairness !== undefined
    const room = (rank: number) => this.slots.roomAt(rank)
    this.backlog = pools ? new PooledBacklog({ strict, from: pools.from, room }) : new Backlog({ strict, elsewhere })
    this.resize(most, agent?.least ?? null)
  }

  /** Null: the agent has no circuit breaker. */
  get breakerGate(): BreakerGate | null {
    return this.#breakerGate
  }

  /** Null: the agent has no rate limit. */
  get rateLimiter(): RateLimiter | null {
    return this.#rateLimiter
  }

  /** Replaces the given gates. Attempts that run go on. */
  setGates({
    breakerGate = this.#breakerGate,
    rateLimiter = this.#rateLimiter,
  }: Pick<Gates, 'breakerGate' | 'rateLimiter'>): void {
    if (breakerGate === this.#breakerGate && rateLimiter === this.#rateLimiter) return
    this.#breakerGate = breakerGate
    this.#rateLimiter = rateLimiter
    this.#options.freed?.()
  }

  /** Sets how many attempts may run at a time. `least`: with adaptive concurrency, the number may fall down to this; null: it is fixed. */
  resize(most: number, least: number | null): void {
    if (least === null) this.#adaptive = null
    else if (this.#adaptive) this.#adaptive.rule = { least, most }
    else this.#adaptive = new AdaptiveConcurrency(this.#options.environment, { least, most })
    this.slots.most = this.#adaptive?.limit ?? most
  }

  /** Adaptive concurrency currently allows fewer attempts than configured. */
  get throttled(): boolean {
    return this.#adaptive?.holds === true
  }

  /** How long attempts usually take here (ms), by operation and action, for processes that start; null: not measured. */
  get usual(): Readonly<Record<string, number>> | null {
    return this.#adaptive?.usual ?? null
  }

  /** Takes over how long attempts usually take in other processes (ms). */
  know(usual: Readonly<Record<string, number>>): void {
    this.#adaptive?.know(usual)
  }

  /** The queue in which a step waits by its key; null: the agent's own queue, or the key is not known here. */
  queueOf(request: Pick<StepRequest, 'action' | 'input'>): string | null {
    if (this.breakerGate === null || this.breakerGate.keys.none) return null
    if (!this.rateLimiter?.isKeyed(request.action) && !this.sharedConcurrency.isKeyed(request.action)) return null
    try {
      const queue = this.breakerGate.keys.queueOf(request)
      this.breakerGate.expect(queue)
      this.rateLimiter?.expect(request.action, queue)
      return queue
    } catch {
      // The attempt will fail with this error, as if its code had thrown it.
      return null
    }
  }

  /** Takes a slot for an attempt that starts once its request is durable. Returns false if none is free or the action is unknown. */
  reserve(action: string, rank = 0): boolean {
    if (!this.#handlers.has(action) || this.#paused !== null || this.sharedConcurrency.isLimited(action)) return false
    if (!this.#cached.has(action)) return this.#takePermit(action, rank)
    // An answer from the cache needs neither a slot nor a healthy service.
    if (!this.slots.open) return false
    this.slots.enter()
    return true
  }

  /** The attempt does not start: gives back what `reserve` took. */
  unreserve(action: string, rank = 0): void {
    if (this.#cached.has(action)) this.slots.leave()
    else this.slots.release(action, rank)
  }

  #takePermit(action: string, rank = 0): boolean {
    if (this.#paused !== null || this.sharedConcurrency.isLimited(action) || this.breakerGate?.isShut(action) === true)
      return false
    if (this.isCoolingDown(this.name)) return false
    if (!this.slots.reserve(action, rank)) return false
    if (this.rateLimiter?.promise(action) !== false) return true
    this.slots.release(action, rank)
    return false
  }

  /** Why no attempt begins here; null: attempts may begin. Setting it does not affect attempts that run. */
  get paused(): PausedThere | null {
    return this.#paused
  }

  set paused(paused: PausedThere | null) {
    const over = this.#paused !== null && paused === null
    this.#paused = paused
    if (over) this.#options.freed?.()
  }

  /** Starts a cooldown: nothing from this queue begins before then. For the agent's own queue, nothing of the agent begins. */
  coolDown(queue: string, until: number): void {
    if (this.slots.open) this.#cooldown.begin(queue, until)
  }

  /** Whether a cooldown keeps attempts of this queue from beginning. */
  isCoolingDown(queue: string): boolean {
    return this.#cooldown.isOn(queue)
  }

  /** Actions with a limit of their own. */
  get limited(): string[] {
    const { limited } = this.slots
    if (!this.rateLimiter && this.sharedConcurrency.isUnlimited) return limited
    return [...new Set([...limited, ...(this.rateLimiter?.limited ?? []), ...this.sharedConcurrency.limitedActions])]
  }

  /** How many attempts from this queue may begin now: of this action, or (null) of all actions without a limit of their own. */
  room(action: string | null, queue: string = this.name): number {
    const room = this.rateLimiter?.room(action, queue) ?? Number.POSITIVE_INFINITY
    return action === null ? room : Math.min(room, this.slots.room(action))
  }

  /** Changes the limit over all nodes of the agent (null) or of an action; `most` null: no limit. */
  bound(action: string | null, most: number | null): void {
    if (this.sharedConcurrency.setLimit(action ?? this.name, most)) this.#options.freed?.()
  }

  /** Sets what other processes offer of the agent: these actions, and this many attempts at a time. */
  offer(relay: Relay, actions: readonly string[], most: number): void {
    this.#handlers = new Map(actions.map((action) => [action, relay]))
    this.#relay = relay
    this.slots.most = most
  }

  /** How long an attempt may run without a heartbeat while this process is dead (ms); null: it dies with this process. */
  get lease(): number | null {
    return this.#relay?.lease ?? null
  }

  /** The actions that the host knows, as step requests name them. */
  get actions(): string[] {
    return [...this.#handlers.keys()]
  }

  /** Starts an attempt in a reserved slot. A local step brings its own handler. */
  start(attempt: HostedAttempt, local?: Handler): void {
    const { request } = attempt
    const handler = local ?? this.#handlers.get(request.action) ?? this.#relay
    if (!handler) return this.slots.release(request.action, request.rank)
    if (attempt.adopted) return this.#go(attempt, handler, this.#options.environment.now())
    const policy = local || request.operation !== 'run' ? undefined : this.#cached.get(request.action)
    if (policy) this.#ask(attempt, handler, policy)
    else this.#admit(attempt, handler, local)
  }

  /** Looks for a cached answer first. */
  #ask(attempt: HostedAttempt, handler: Handler | Relay, policy: CachePolicy): void {
    const { request, completeBy } = attempt
    const { answers } = this.#options
    // An attempt from the queue already has a slot.
    if (attempt.work === undefined) attempt.guest = true
    const key = this.#await(attempt)
    const waits = () => {
      if (attempt.guest || this.#unsure.get(key) !== attempt) return
      this.#releaseSlot(attempt)
    }
    void answers?.find(policy, request, completeBy, waits).then(({ outcome, flight }) => {
      const wanted = this.#unsure.get(key) === attempt
      if (wanted) this.#unsure.delete(key)
      if (outcome && flight) this.#refresh(attempt, handler, flight)
      else if (!wanted) flight?.end(null)
      if (!wanted) return
      this.#reporter.found(request, outcome)
      if (outcome) return this.#end(attempt, outcome, null)
      if (flight) attempt.flight = flight
      if (!attempt.guest) return this.#admit(attempt, handler)
      if (!this.#resume(attempt)) {
        return this.#end(attempt, { kind: 'withdrawn', after: ASK_AGAIN, lane: attempt.queue ?? this.name }, null)
      }
      this.#reacquireSlot(attempt)
      this.#admit(attempt, handler)
    })
  }

  /** A stale answer was given; an attempt in the background fetches a new one for later requests. */
  #refresh({ request, completeBy }: HostedAttempt, handler: Handler | Relay, flight: FillHandle): void {
    const { environment } = this.#options
    const within = completeBy - environment.now()
    void flight.claim(within).then((first) => {
      if (!first || 'send' in handler || !this.#takePermit(request.action, request.rank)) return flight.end(null)
      const nothing = () => undefined
      this.#admit(
        {
          // The attempt belongs to no task: its outcome is not reported, and nothing can abort it.
          request: { ...request, step: -request.step },
          ...{ completeBy: environment.now() + within, heartbeatWithin: null, flight },
          ...{ beat: nothing, begun: async () => true, survived: nothing, done: nothing },
        },
        handler,
      )
    })
  }

  #admit(attempt: HostedAttempt, handler: Handler | Relay, local?: Handler): void {
    const { request } = attempt
    const refusal = local ? null : this.breakerGate?.meet(attempt)
    if (refusal) return this.#end(attempt, refusal, null)
    const { lease } = this.#options
    if (request.trial) return this.#try(attempt, handler, request.trial.strikes)
    if (lease.holds()) return this.#begin(attempt, handler)
    const key = this.#await(attempt)
    void lease.sure().then((sure) => {
      if (this.#unsure.get(key) !== attempt) return // cancelled meanwhile
      this.#unsure.delete(key)
      if (sure) this.#begin(attempt, handler)
      else this.#drop(attempt)
    })
  }

  /** Gives up an attempt that has not begun, without a reply. */
  #drop(attempt: HostedAttempt): void {
    this.#free(attempt)
    attempt.flight?.end(null)
    this.#pass(attempt, { kind: 'withdrawn' }, null)
  }

  /** Frees the attempt's slot while it waits for something other than its service. */
  #releaseSlot(attempt: HostedAttempt): void {
    const { action, rank } = attempt.request
    this.slots.enter()
    this.slots.release(action, rank)
    attempt.guest = true
  }

  /**
   * Takes a slot again. An attempt from the queue still holds everything else that the queue granted it, including its permits over all
   * nodes.
   */
  #resume({ work, request: { action, rank } }: HostedAttempt): boolean {
    return work === undefined ? this.#takePermit(action, rank) : this.slots.reserve(action, rank)
  }

  /** Marks the attempt as holding a slot, which was just taken for it. */
  #reacquireSlot(attempt: HostedAttempt): void {
    this.slots.leave()
    attempt.guest = false
  }

  #free({ request, guest }: HostedAttempt): void {
    if (guest) this.slots.leave()
    else this.slots.release(request.action, request.rank)
  }

  /** Reports the attempt's outcome to the circuit breaker, and gives back its pass. */
  #pass({ breakerName: lane, pass }: HostedAttempt, outcome: Outcome, ms: number | null): void {
    // An attempt answered from the cache never met the breaker, but may hold a pass that came with its request.
    const met = lane ?? pass?.breaker
    if (met !== undefined) this.breakerGate?.ended(met, pass, outcome, ms)
  }

  /** Runs an attempt on probation, which begins only once its beginning is recorded: if the process dies of it, nothing else could tell. */
  #try(attempt: HostedAttempt, handler: Handler | Relay, strikes: number): void {
    const { probation, lease } = this.#options
    // If no process may run it now, no beginning is recorded and no probation place is taken.
    const refusal = 'send' in handler ? handler.meet(attempt.request) : null
    if (refusal) return this.#end(attempt, refusal, null)
    const after = probation.enter(attempt, strikes)
    if (after !== null) return this.#end(attempt, { kind: 'withdrawn', after }, null)
    const key = this.#await(attempt)
    void attempt.begun().then(async (known) => {
      const sure = known && (lease.holds() || (await lease.sure()))
      const wanted = this.#unsure.get(key) === attempt
      if (wanted) this.#unsure.delete(key)
      if (wanted && sure) return this.#begin(attempt, handler)
      probation.leave(attempt, false)
      if (wanted) this.#drop(attempt)
    })
  }

  /** Registers an attempt that waits to begin. One of the same step that still waits is given up: its owner asked for a new one. */
  #await(attempt: HostedAttempt): string {
    const { task, step } = attempt.request
    const key = attemptKey(task, step)
    this.#giveUp(key)
    this.#unsure.set(key, attempt)
    return key
  }

  /** Gives up the attempt that waits under this key, without a reply. */
  #giveUp(key: string): void {
    const waiting = this.#unsure.get(key)
    if (!waiting) return
    this.#unsure.delete(key)
    this.#options.probation.leave(waiting, false)
    this.#drop(waiting)
  }

  #begin(attempt: HostedAttempt, handler: Handler | Relay): void {
    const { request } = attempt
    const { environment, probation } = this.#options
    // The attempt is overdue: a process that stood still must not start what others have given up.
    const now = environment.now()
    const late = now >= attempt.completeBy
    const overdue = late ? notStarted('STEP_TIMEOUT', 'complete-by passed before the attempt started') : null
    // The breaker may have opened while the lease was checked.
    const opened = overdue ?? (attempt.breakerName === undefined ? null : this.breakerGate?.meet(attempt))
    const paused = opened ?? this.#pause() ?? this.#rest(attempt)
    const elsewhere = paused ?? this.#belongsElsewhere(attempt)
    const refusal = elsewhere ?? this.rateLimiter?.meet(request.action, attempt.breakerName ?? this.name)
    if (!refusal) return this.#go(attempt, handler, now)
    probation.leave(attempt, false)
    if (elsewhere || !attempt.flight || attempt.work === undefined) this.#end(attempt, refusal, null)
    else this.#awaitFill(attempt, handler, refusal)
  }

  /**
   * Lets a cached attempt without a rate limit instant wait here, without a slot. Back in its queue it would ask the cache again, and
   * instants would pass unused meanwhile. It waits at most as long as it would be put off.
   */
  #awaitFill(attempt: HostedAttempt, handler: Handler | Relay, refusal: Outcome): void {
    const { action, rank } = attempt.request
    const key = this.#await(attempt)
    this.#releaseSlot(attempt)
    const over = (): boolean => {
      this.#tarrying.delete(resume)
      timer.cancel()
      return this.#unsure.get(key) === attempt && this.#unsure.delete(key)
    }
    const timer = this.#options.environment.timer(ASK_AGAIN, () => {
      if (over()) this.#end(attempt, refusal, null)
    })
    const resume = () => {
      if (this.#unsure.get(key) !== attempt) return over()
      if (this.rateLimiter?.room(action, attempt.breakerName ?? this.name) === 0 || !this.slots.reserve(action, rank))
        return false
      over()
      this.#reacquireSlot(attempt)
      this.#admit(attempt, handler)
      return true
    }
    this.#tarrying.add(resume)
  }

  /** The rate limit may have new instants. Attempts that wait here get them before those in the queue. */
  paced(): void {
    for (const resume of [...this.#tarrying]) resume()
  }

  #go(attempt: HostedAttempt, handler: Handler | Relay, now: number): void {
    const { request } = attempt
    const { environment, lease, probation } = this.#options
    const { trace } = lease
    const key = attemptKey(request.task, request.step)
    let place = -1
    let trial: Timer | null = null
    const running = new Attempt(environment, attempt, this.#options, now, (outcome) => {
      if (this.#running.get(key) === running) this.#running.delete(key)
      trial?.cancel()
      probation.leave(attempt)
      this.#reporter.ended(request, outcome, running.startedAt)
      if (running.returned) trace?.end(place)
      else this.#abandonedCode.begin(running, () => trace?.end(place))
      this.#end(attempt, outcome, running)
    })
    this.#running.set(key, running)
    const outlast = (span: number, since: number) => {
      trial = environment.timer(span, () => {
        // A remote process may have died well before that is noticed, so survival requires a sign of life after the span.
        if (running.relayed && running.relayed.heardAt < since + span) outlast(span, since)
        else if (probation.leave(attempt)) attempt.survived()
      })
    }
    if (request.trial) outlast(survivalOf(attempt, environment.now()), environment.monotonic())
    this.#reporter.started(request, running.startedAt)
    if ('send' in handler) return running.send(handler)
    try {
      const chain = this.#options.around(request.action, request.workflow, request.version)
      if (trace) place = trace.begin(`${request.action || request.name} (step ${request.step} of task ${request.task})`)
      running.start(chain.length === 0 ? handler : wrapped(handler, chain, { agent: this.name || null, request }))
    } catch (error) {
      // Middleware that cannot be ordered fails the attempt, as if its code had thrown.
      const refuse = () => {
        throw error
      }
      running.start({ run: refuse, undo: refuse, verify: refuse })
    }
    trace?.outside()
  }

  /** The agent was paused after the attempt was admitted: the attempt goes back to its queue. */
  #pause(): Outcome | null {
    return this.#paused === null || this.name === '' ? null : { kind: 'withdrawn', after: ASK_AGAIN, lane: this.name }
  }

  /** A cooldown began after the attempt was admitted. */
  #rest({ breakerName: lane = this.name }: HostedAttempt): Outcome | null {
    return this.isCoolingDown(lane) ? { kind: 'withdrawn', after: ASK_AGAIN, lane } : null
  }

  /** The attempt needs a permit by its key, but was taken from a queue without keys: it goes to the queue of its key. */
  #belongsElsewhere({ request, breakerName: lane, queue }: HostedAttempt): Outcome | null {
    if (lane === undefined || queue === lane || !this.sharedConcurrency.isKeyed(request.action)) return null
    return { kind: 'withdrawn', after: ASK_AGAIN, lane }
  }

  /** Succeeds the host of a fenced node of this process: code that still runs there takes slots here. */
  succeed(before: AgentHost): void {
    for (const running of [...before.#abandonedCode.left, ...before.#running.values()])
      if (!running.returned && !running.relayed) this.#abandonedCode.begin(running)
  }

  #end(hosted: HostedAttempt, outcome: Outcome, ran: Attempt | null): void {
    const { request } = hosted
    const { environment, node } = this.#options
    const { step, operation, attempt } = request
    const now = environment.now()
    if (ran && !ran.cutOff) this.#adapt(request, outcome, now - ran.startedAt)
    this.#free(hosted)
    hosted.flight?.end(ran && !ran.cutOff ? outcome : null)
    if (ran) this.#recordOutcome(request.action, hosted.breakerName ?? this.name, outcome)
    if (outcome.kind === 'withdrawn' && outcome.lane !== undefined) this.breakerGate?.expect(outcome.lane)
    if (ran) this.#options.ended?.(this.name, outcome)
    if (ran?.cutOff) this.#pass(hosted, { kind: 'withdrawn' }, null)
    else this.#pass(hosted, outcome, ran && now - ran.startedAt)
    const reply: Reply = {
      type: 'reply',
      step,
      operation,
      attempt,
      outcome,
      startedAt: ran?.startedAt ?? null,
      endedAt: now,
      node,
      ...(ran?.checkpoint !== undefined && { checkpoint: ran.checkpoint }),
    }
    if (ran?.recorded) hosted.done(reply, ran.recorded)
    else hosted.done(reply)
  }

  /** If the service asked for a cooldown, applies it to the rate limit that the action is under, or else to the whole queue. */
  #recordOutcome(action: string, queue: string, outcome: Outcome): void {
    const ms = retryAfterOfOutcome(outcome)
    if (ms === 0) return
    if (this.rateLimiter?.limits(action)) return this.rateLimiter.rest(action, queue, ms)
    const { environment, cooldownAsked } = this.#options
    if (this.name === '' || !cooldownAsked) return
    const until = environment.now() + Math.min(LONGEST_REST, Math.ceil(ms))
    if (this.#cooldown.covers(queue, until)) return
    this.coolDown(queue, until)
    cooldownAsked(queue, until)
  }

  #adapt({ action, operation }: StepRequest, outcome: Outcome, ms: number): void {
    if (!this.#adaptive) return
    this.#adaptive.ended(`${operation} ${action}`, outcome, ms, this.slots.running)
    const most = this.#adaptive.limit
    if (most === this.slots.most) return
    this.slots.most = most
    const { environment, node, telemetry } = this.#options
    const outlet = telemetry['limit:moved']
    if (outlet.open) outlet.tell({ at: environment.now(), node, agent: this.name, most })
  }

  abort(task: string, step: number, reason: unknown): void {
    const key = attemptKey(task, step)
    this.#running.get(key)?.abort(reason)
    const waiting = this.#unsure.get(key)
    if (!waiting || !this.#unsure.delete(key)) return
    this.#options.probation.leave(waiting, false)
    this.#end(waiting, notStarted('STEP_CANCELLED', 'the attempt was called off before it started'), null)
  }

  /** The step's owner is gone or gave the attempt up: its outcome is not awaited any more. */
  abandon(task: string, step: number, reason: unknown): void {
    const key = attemptKey(task, step)
    this.#running.get(key)?.abandon(reason)
    this.#giveUp(key)
  }

  /** The attempt of exactly this request, if it still runs. */
  attempt(request: StepRequest): Attempt | undefined {
    const running = this.#running.get(attemptKey(request.task, request.step))
    return running?.is(request) ? running : undefined
  }

  /** Takes no new work, and does not wait for code that outlived its attempt. */
  close(): void {
    this.slots.close()
    this.#cooldown.close()
    this.#abandonedCode.dismiss()
  }

  /** Resolves when no attempt runs any more. */
  idle(): Promise<void> {
    return this.slots.idle()
  }

  /** Abandons all attempts: their timers must not keep the process from ending. */
  abandonAll(reason: unknown): void {
    this.abortAll(reason)
    for (const attempt of [...this.#running.values()]) attempt.abandon(reason)
  }

  abortAll(reason: unknown): void {
    this.close()
    for (const attempt of this.#running.values()) attempt.abort(reason)
  }
}

/** Delay before an attempt that was put off is requested again (ms), for callers in other processes, which do not know the queue. */
const ASK_AGAIN = 1_000

/**
 * How long an attempt on probation must run to count as survived (ms): short enough that nothing else takes the attempt for lost before.
 */
function survivalOf({ completeBy, heartbeatWithin }: HostedAttempt, now: number): number {
  return Math.min(SURVIVED_AFTER_MS, (completeBy - now) / 2, (heartbeatWithin ?? Number.POSITIVE_INFINITY) / 2)
}

function notStarted(code: string, message: string): Outcome {
  return { kind: 'failed', error: { name: 'TriarchError', code, message }, retryable: true, lost: 'alive' }
}

function attemptKey(task: string, step: number): string {
  return `${task}:${step}`
}
