import type { ActionCache, CacheFill } from '../cache/action-cache.ts'
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
  /** The number of its request in the work queue, if it came from there. */
  work?: number
  /** The queue that it was taken of. */
  queue?: string
  completeBy: number
  /** It runs elsewhere already, and another node had it before: nobody is asked whether it may. */
  adopted?: boolean
  /** It has no slot: what it waits for is an answer of a cache. */
  guest?: boolean
  /** What it gives is kept. */
  flight?: CacheFill
  heartbeatWithin: number | null
  /** Its resume token, where that came with it. */
  token?: string
  beat: (progress?: Json, checkpoint?: Json) => void
  /** It is about to be tried by itself. True: that is durable. */
  begun: () => Promise<boolean>
  /** The process outlived its beginning. */
  survived: () => void
  /** `recorded`: who waits for it to be durable, or to count for nothing. */
  done: (reply: Reply, recorded?: Telling['recorded']) => void
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
  telemetry: Telemetry
  /** Where the lines of attempts go. */
  logs: LogSink
  /** Makes resume tokens. */
  token: (content: TokenContent) => string
  /** Told when code answers after nobody waited any more. */
  late: () => void
  /** Told of what code left behind then. */
  failed: (error: unknown) => void
  lease: Leased
  /** Answers of before; null: none are kept. */
  answers?: ActionCache | null
  /** For code that computes; null: it runs here. */
  threads: Threads | null
  /** The one of this process. */
  probation: Probation
  /** Told when a slot is free again after all were taken. */
  freed?: () => void
  /** Told when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
  /** Told that the service behind this queue asks to be left alone until then; without it each step waits for itself. */
  cooldownAsked?: (queue: string, until: number) => void
  /** Told what became of each attempt that ran. */
  ended?: (agent: string, outcome: Outcome) => void
}

/** What stands between a host and its service. */
export interface Gates {
  breakerGate?: BreakerGate | null
  rateLimiter?: RateLimiter | null
  /** Other nodes have it, and its queue: this one gives it attempts, and takes none for it. */
  elsewhere?: boolean
  /** No store counts here what runs on all nodes: who gives it attempts heeds such bounds. */
  storeless?: boolean
}

/** Runs attempts of one agent in this process, never more at once than its concurrency. */
export class AgentHost {
  readonly name: string
  readonly slots: Slots
  /** What all nodes share: it is had with the request, from the queue. */
  readonly sharedConcurrency: SharedConcurrency
  #breakerGate: BreakerGate | null
  /** What waits in its queue, as far as this process knows. */
  readonly backlog: Backlog | PooledBacklog
  #rateLimiter: RateLimiter | null
  #paused: PausedThere | null = null
  readonly #cooldown: Cooldown
  /** Null: as many as are allowed. */
  #adaptive: AdaptiveConcurrency | null = null
  readonly #options: HostOptions
  /** Of actions whose answers may be given again. */
  readonly #cached = new Map<string, CachePolicy>()
  #handlers = new Map<string, Handler | Relay>()
  readonly #running = new Register<string, Attempt>()
  /** Who also takes what was meant for an action that is offered no more. */
  #relay: Relay | null = null
  readonly #abandonedCode: AbandonedCode
  readonly #reporter: AttemptReporter
  /** Of attempts that wait here for an instant of their rate: how each goes on, if it may. */
  readonly #tarrying = new Set<() => void>()
  /** Attempts that start once the lease is sure. */
  readonly #unsure = new Register<string, HostedAttempt>()

  /** Without an agent: the host of local steps; with a name, of an agent that is elsewhere (`offer`). */
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

  /** Null: nothing stands between it and its service. */
  get breakerGate(): BreakerGate | null {
    return this.#breakerGate
  }

  /** Null: as many attempts may begin as there are slots. */
  get rateLimiter(): RateLimiter | null {
    return this.#rateLimiter
  }

  /** What stands before it is another from now on. What runs goes on. */
  setGates({
    breakerGate = this.#breakerGate,
    rateLimiter = this.#rateLimiter,
  }: Pick<Gates, 'breakerGate' | 'rateLimiter'>): void {
    if (breakerGate === this.#breakerGate && rateLimiter === this.#rateLimiter) return
    this.#breakerGate = breakerGate
    this.#rateLimiter = rateLimiter
    this.#options.freed?.()
  }

  /** So many attempts may run at a time; `least`: or fewer, down to so many, as the service answers. */
  resize(most: number, least: number | null): void {
    if (least === null) this.#adaptive = null
    else if (this.#adaptive) this.#adaptive.rule = { least, most }
    else this.#adaptive = new AdaptiveConcurrency(this.#options.environment, { least, most })
    this.slots.most = this.#adaptive?.limit ?? most
  }

  /** Fewer run than are allowed, for the sake of the service. */
  get throttled(): boolean {
    return this.#adaptive?.holds === true
  }

  /** What attempts usually take here (ms), for processes that begin; null: nobody asks. */
  get usual(): Readonly<Record<string, number>> | null {
    return this.#adaptive?.usual ?? null
  }

  /** What they usually take in other processes. */
  know(usual: Readonly<Record<string, number>>): void {
    this.#adaptive?.know(usual)
  }

  /** The queue in which a step waits by its key; null: in its agent's own, where nobody knows better. */
  queueOf(request: Pick<StepRequest, 'action' | 'input'>): string | null {
    if (this.breakerGate === null || this.breakerGate.keys.none) return null
    if (!this.rateLimiter?.isKeyed(request.action) && !this.sharedConcurrency.isKeyed(request.action)) return null
    try {
      const queue = this.breakerGate.keys.queueOf(request)
      this.breakerGate.expect(queue)
      this.rateLimiter?.expect(request.action, queue)
      return queue
    } catch {
      // The attempt fails of it, as if its code had thrown.
      return null
    }
  }

  /** Takes a slot for an attempt that starts once its request is durable. False: none is free, or it does not know the action. */
  reserve(action: string, rank = 0): boolean {
    if (!this.#handlers.has(action) || this.#paused !== null || this.sharedConcurrency.isLimited(action)) return false
    if (!this.#cached.has(action)) return this.#seat(action, rank)
    // What was kept needs neither a slot nor a healthy service.
    if (!this.slots.open) return false
    this.slots.enter()
    return true
  }

  /** What was to start does not. */
  unreserve(action: string, rank = 0): void {
    if (this.#cached.has(action)) this.slots.leave()
    else this.slots.release(action, rank)
  }

  #seat(action: string, rank = 0): boolean {
    if (this.#paused !== null || this.sharedConcurrency.isLimited(action) || this.breakerGate?.isShut(action) === true)
      return false
    if (this.isCoolingDown(this.name)) return false
    if (!this.slots.reserve(action, rank)) return false
    if (this.rateLimiter?.promise(action) !== false) return true
    this.slots.release(action, rank)
    return false
  }

  /** Why nothing begins here; null: it does. What runs goes on. */
  get paused(): PausedThere | null {
    return this.#paused
  }

  set paused(paused: PausedThere | null) {
    const over = this.#paused !== null && paused === null
    this.#paused = paused
    if (over) this.#options.freed?.()
  }

  /** The service asked that nothing of this queue begins before then: of the agent's own, nothing at all. */
  coolDown(queue: string, until: number): void {
    if (this.slots.open) this.#cooldown.begin(queue, until)
  }

  /** Whether nothing of this queue may begin now. */
  isCoolingDown(queue: string): boolean {
    return this.#cooldown.isOn(queue)
  }

  /** Actions with a bound of their own. */
  get limited(): string[] {
    const { limited } = this.slots
    if (!this.rateLimiter && this.sharedConcurrency.isUnlimited) return limited
    return [...new Set([...limited, ...(this.rateLimiter?.limited ?? []), ...this.sharedConcurrency.limitedActions])]
  }

  /** How many attempts of what waits in this queue may begin now, of any action without a bound of its own (null), or of this one. */
  room(action: string | null, queue: string = this.name): number {
    const room = this.rateLimiter?.room(action, queue) ?? Number.POSITIVE_INFINITY
    return action === null ? room : Math.min(room, this.slots.room(action))
  }

  /** The bound over all nodes of the agent (null), or of an action, is another from now on; null: there is none. */
  bound(action: string | null, most: number | null): void {
    if (this.sharedConcurrency.setLimit(action ?? this.name, most)) this.#options.freed?.()
  }

  /** What is offered of an agent that is elsewhere: these actions, in so many attempts at a time. */
  offer(relay: Relay, actions: readonly string[], most: number): void {
    this.#handlers = new Map(actions.map((action) => [action, relay]))
    this.#relay = relay
    this.slots.most = most
  }

  /** For how long an attempt may outlive this process without a word (ms); null: it dies with it. */
  get lease(): number | null {
    return this.#relay?.lease ?? null
  }

  /** The actions it knows, as step requests name them. */
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

  /** First whether there is an answer already. */
  #ask(attempt: HostedAttempt, handler: Handler | Relay, policy: CachePolicy): void {
    const { request, completeBy } = attempt
    const { answers } = this.#options
    // Taken from the queue it has a slot.
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

  /** An answer that is stale was given: another is asked for, for whoever comes next. */
  #refresh({ request, completeBy }: HostedAttempt, handler: Handler | Relay, flight: CacheFill): void {
    const { environment } = this.#options
    const within = completeBy - environment.now()
    void flight.claim(within).then((first) => {
      if (!first || 'send' in handler || !this.#seat(request.action, request.rank)) return flight.end(null)
      const nothing = () => undefined
      this.#admit(
        {
          // Of no task that waits: nothing of it is told, and nobody calls it off.
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
      if (this.#unsure.get(key) !== attempt) return // called off meanwhile
      this.#unsure.delete(key)
      if (sure) this.#begin(attempt, handler)
      else this.#drop(attempt)
    })
  }

  /** Nobody hears of it. */
  #drop(attempt: HostedAttempt): void {
    this.#free(attempt)
    attempt.flight?.end(null)
    this.#pass(attempt, { kind: 'withdrawn' }, null)
  }

  /** It waits for something else than its service: its slot is for others. */
  #releaseSlot(attempt: HostedAttempt): void {
    const { action, rank } = attempt.request
    this.slots.enter()
    this.slots.release(action, rank)
    attempt.guest = true
  }

  /** One that stood has all else that its queue was asked for, its seat over all nodes too: it needs a slot again. */
  #resume({ work, request: { action, rank } }: HostedAttempt): boolean {
    return work === undefined ? this.#seat(action, rank) : this.slots.reserve(action, rank)
  }

  /** A slot was taken for it. */
  #reacquireSlot(attempt: HostedAttempt): void {
    this.slots.leave()
    attempt.guest = false
  }

  #free({ request, guest }: HostedAttempt): void {
    if (guest) this.slots.leave()
    else this.slots.release(request.action, request.rank)
  }

  /** Tells the breaker of its service what became of it. */
  #pass({ lane, pass }: HostedAttempt, outcome: Outcome, ms: number | null): void {
    // One that was given an answer of before has met no breaker, and has a pass all the same: that is for others.
    const met = lane ?? pass?.lane
    if (met !== undefined) this.breakerGate?.ended(met, pass, outcome, ms)
  }

  /** By itself, once it is known that it began: if the process dies of it, nobody could say so afterwards. */
  #try(attempt: HostedAttempt, handler: Handler | Relay, strikes: number): void {
    const { probation, lease } = this.#options
    // Where no process may try it, nothing is said of a beginning, and no place is taken from those that one may.
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
    this.#options.probation.leave(waiting, false)
    this.#drop(waiting)
  }

  #begin(attempt: HostedAttempt, handler: Handler | Relay): void {
    const { request } = attempt
    const { environment, probation } = this.#options
    // Nobody waits for it any more, or soon nobody will: a process that stood still must not start what others gave up.
    const now = environment.now()
    const late = now >= attempt.completeBy
    const overdue = late ? notStarted('STEP_TIMEOUT', 'complete-by passed before the attempt started') : null
    // Or the breaker has opened while the lease was asked for.
    const opened = overdue ?? (attempt.lane === undefined ? null : this.breakerGate?.meet(attempt))
    const paused = opened ?? this.#pause() ?? this.#rest(attempt)
    const elsewhere = paused ?? this.#astray(attempt)
    const refusal = elsewhere ?? this.rateLimiter?.meet(request.action, attempt.lane ?? this.name)
    if (!refusal) return this.#go(attempt, handler, now)
    probation.leave(attempt, false)
    if (elsewhere || !attempt.flight || attempt.work === undefined) this.#end(attempt, refusal, null)
    else this.#tarry(attempt, handler, refusal)
  }

  /**
   * By its queue it would ask the cache again, and while that answers, the instants of its rate go by: it waits here for the next ones,
   * without a slot, for as long as it would be put off.
   */
  #tarry(attempt: HostedAttempt, handler: Handler | Relay, refusal: Outcome): void {
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
      if (this.rateLimiter?.room(action, attempt.lane ?? this.name) === 0 || !this.slots.reserve(action, rank))
        return false
      over()
      this.#reacquireSlot(attempt)
      this.#admit(attempt, handler)
      return true
    }
    this.#tarrying.add(resume)
  }

  /** There may be instants of its rate: those that wait here have them before the queue. */
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
        // A process elsewhere may have died of it long before anybody misses it.
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
      // Middleware that cannot be put in order: the attempt's own failure, as if its code had thrown.
      const refuse = () => {
        throw error
      }
      running.start({ run: refuse, undo: refuse, verify: refuse })
    }
    trace?.outside()
  }

  /** It was let start before it was paused: it waits in its queue. */
  #pause(): Outcome | null {
    return this.#paused === null || this.name === '' ? null : { kind: 'withdrawn', after: ASK_AGAIN, lane: this.name }
  }

  /** Its service has asked for a rest meanwhile. */
  #rest({ lane = this.name }: HostedAttempt): Outcome | null {
    return this.isCoolingDown(lane) ? { kind: 'withdrawn', after: ASK_AGAIN, lane } : null
  }

  /** It needs a seat by its key, and was taken of a queue without keys. */
  #astray({ request, lane, queue }: HostedAttempt): Outcome | null {
    if (lane === undefined || queue === lane || !this.sharedConcurrency.isKeyed(request.action)) return null
    return { kind: 'withdrawn', after: ASK_AGAIN, lane }
  }

  /** Follows the host that a fenced node of this process had: the code that still runs there has slots here. */
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
    if (ran) this.#heed(request.action, hosted.lane ?? this.name, outcome)
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

  /** A service that asks for a rest is left alone by all attempts: of the limit that they are under, or else of the agent. */
  #heed(action: string, queue: string, outcome: Outcome): void {
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

  /** Takes no new work, and waits for nothing that outlived its attempt. */
  close(): void {
    this.slots.close()
    this.#cooldown.close()
    this.#abandonedCode.dismiss()
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

/** Across the wire no lane is named: whoever asked from there asks again after this (ms). */
const ASK_AGAIN = 1_000

/** Before anybody else may take the attempt for lost. */
function survivalOf({ completeBy, heartbeatWithin }: HostedAttempt, now: number): number {
  return Math.min(SURVIVED_AFTER_MS, (completeBy - now) / 2, (heartbeatWithin ?? Number.POSITIVE_INFINITY) / 2)
}

function notStarted(code: string, message: string): Outcome {
  return { kind: 'failed', error: { name: 'TriarchError', code, message }, retryable: true, lost: 'alive' }
}

function attemptKey(task: string, step: number): string {
  return `${task}:${step}`
}
