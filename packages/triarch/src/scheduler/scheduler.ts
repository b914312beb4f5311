import type { Handler } from '../agent/attempt.ts'
import { AgentHost, type HostOptions, type Leased } from '../agent/host.ts'
import type { Logbook } from '../agent/logbook.ts'
import type { Action, Workflow } from '../definition/definition.ts'
import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { EventLoopYield } from '../environment/event-loop-yield.ts'
import { Register } from '../environment/register.ts'
import type { Service } from '../environment/service.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Probation } from '../flow/probation.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import type { Turn } from '../kernel/turn.ts'
import type { Draft } from '../store/origin.ts'
import type {
  Claim,
  CommitOutcome,
  Hint,
  HistoryRecord,
  InboxMessage,
  StateStore,
  StepRequest,
  Transition,
} from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { submission } from '../telemetry/submission.ts'
import { agentOf } from '../value/name.ts'
import { WakeAlarm } from './alarm.ts'
import { OwnAttempt } from './attempt.ts'
import { ClaimSize } from './claim-size.ts'
import { Committer } from './committer.ts'
import { effectHandler, type LocalCode } from './effect.ts'
import { handOn } from './handover.ts'
import { hints } from './hint.ts'
import { pagesAfter } from './history.ts'
import type { RunnerHost, SchedulerLimits } from './host.ts'
import { InboxTracker } from './inbox-tracker.ts'
import { LostTailDetector } from './lost-tail-detector.ts'
import { MAX_PROBATION_DEATHS, type Owned, Quarantine } from './quarantine.ts'
import { Queueing, type QueuePosition } from './queueing.ts'
import type { Registry } from './registry.ts'
import { releaseAfterError } from './release.ts'
import { TaskRunner } from './runner.ts'
import { UnknownOwnership } from './unknown-ownership.ts'

export interface SchedulerOptions {
  environment: Environment
  store: StateStore
  node: string
  registry: Registry
  limits: SchedulerLimits
  /** Waiting this long raises a ready task by one level of priority (ms); null: waiting does not raise it. */
  ageing: number | null
  /** Agents that take attempts without a work queue: those of this process, and those connected to it. */
  hosts: { get(agent: string): AgentHost | undefined; values(): Iterable<AgentHost> }
  lease: Leased
  probation: Probation
  /** Called when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
  /** Interval between two checks for tasks that have been idle for long (ms). */
  poll: number
  alert: (alert: RaisedAlert) => void
  telemetry: Telemetry
  logs: Logbook
  token: HostOptions['token']
  /** Called after each durable transition. */
  committed: (state: TaskState) => void
  /** Called when work was added to the agents' queues. */
  queued: () => void
  /** Called when a step was queued for agents elsewhere, or when nothing outstanding can move the task. */
  wonder: (task: string, cause: string) => void
  stale: (count: number) => void
  failed: (error: unknown) => void
  /** How often the store is checked for records that it acknowledged (ms). */
  every: number
  /** Called when acknowledged records are missing: nothing that this node holds in memory can be relied on. */
  wentBack: () => void
}

/** A sleeping task that is due by the store's clock but not by this node's is left to others for at most this long (ms). */
const TOO_EARLY = 1_000
/** The most tasks let go at once to make room for others. */
const MOST_EVICTED = 500
/**
 * A task for which there is no room is left to others for this long; the second is for a task larger than this node's whole memory limit
 * (ms).
 */
const NO_ROOM_REST = 1_000
const TOO_LARGE_REST = 30_000

/** Delay before the store is asked again after a failure: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/** Owns tasks: claims ready ones, keeps the busy ones in memory, lets the idle ones go. */
export class Scheduler implements RunnerHost<TaskRunner>, Service {
  readonly environment: Environment
  readonly node: string
  readonly limits: SchedulerLimits
  readonly committer: Committer
  readonly alarm: WakeAlarm
  readonly inbox: InboxTracker = new InboxTracker()
  readonly eventLoopYield: EventLoopYield
  readonly telemetry: Telemetry
  readonly logs: Logbook
  readonly lostTailDetector: LostTailDetector
  readonly strays: UnknownOwnership
  /** There was no room when tasks may have been ready, so a task that becomes idle is released at once. */
  #crowded = false
  /** As far as is known, ready tasks wait in the store: new submissions queue behind them instead of starting here. */
  #lined = false
  /**
   * What this node knows of its tasks is posted for their next owners. False once the store went back: the knowledge may belong to
   * another history.
   */
  handsOn = true
  /** How many claims in a row found nothing because other nodes were quicker. */
  outrun = 0
  readonly #options: SchedulerOptions
  readonly #runners = new Register<string, TaskRunner>()
  readonly #byKey = new Register<number, TaskRunner>()
  readonly #locals: AgentHost
  #open = false
  #polling = false
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  #retry: Timer | null = null
  /** What the next round looks for. */
  #wanted: ReadonlySet<Hint> = hints.nothing
  #emptied: (() => void)[] = []
  /** The last claim got no answer, so the store may have given this node tasks that it does not know of. */
  #unsure = false
  readonly #claimSize: ClaimSize
  readonly #quarantine: Quarantine
  readonly #queueing: Queueing
  /** Keys of tasks that are left to others, and until when. */
  readonly #left = new Map<number, number>()
  /** Tasks claimed on probation and not yet cleared. Meanwhile no other task is opened here. */
  readonly #onProbation = new Set<TaskRunner>()
  /** The last claim was for a task on probation; the next is not, so that neither kind starves the other. */
  #tried = false
  /** Ids of tasks that are being given back. */
  readonly #leaving = new Set<string>()
  /** Bytes of the histories in memory. */
  #weight = 0

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.environment = options.environment
    this.node = options.node
    this.limits = options.limits
    this.telemetry = options.telemetry
    this.logs = options.logs
    this.committer = new Committer(options.environment, options.store, options)
    this.lostTailDetector = new LostTailDetector(options, this.#runners)
    this.strays = new UnknownOwnership({
      ...options,
      has: (id) => this.#runners.has(id) || this.#leaving.has(id),
      claiming: () => this.#unsure,
      giveBack: (task) => this.giveBack(task),
    })
    this.eventLoopYield = new EventLoopYield(options.environment)
    this.#claimSize = new ClaimSize(options.environment)
    this.#quarantine = new Quarantine(options)
    const weights = (agent: string) => options.registry.weights.get(agent)
    this.#queueing = new Queueing(options.registry.agents.values(), weights, options.failed)
    this.alarm = new WakeAlarm({
      environment: options.environment,
      ring: () => this.wake(hints.tasks),
      every: options.poll,
      tidy: () => this.#evict(0),
    })
    const { registry } = options
    const around: HostOptions['around'] = (...of) => registry.chain(...of)
    this.#locals = new AgentHost(
      { ...options, around, payload: options.limits.payload, late: () => options.stale(1), threads: null },
      null,
    )
  }

  get store(): RunnerHost['store'] {
    return this.#options.store
  }

  start(): void {
    this.#open = true
    this.alarm.start()
    this.wake()
  }

  get size(): number {
    return this.#runners.size
  }

  has(id: string): boolean {
    return this.#runners.has(id)
  }

  /** The context of the task's submission, as long as the task has not left memory. */
  contextOf(id: string): CallContext {
    return this.#runners.get(id)?.context ?? CallContext.none
  }

  /** Asks for a round: tasks may be ready, or messages may wait. */
  wake(wanted: ReadonlySet<Hint> = hints.either): void {
    this.#wanted = this.#wanted === wanted || this.#wanted.size === 0 ? wanted : hints.either
    if (this.#polling || this.#retry || !this.#open) return
    this.#polling = true
    this.environment.soon(() => void this.#poll())
  }

  /**
   * Creates a task and starts it in the same transition if this node can run it now. Returns null if it cannot; the caller then submits
   * the task to the store.
   */
  launch(draft: Draft): Promise<CommitOutcome> | null {
    const { task } = draft
    const { tasks, memory } = this.limits
    const room = this.#runners.size < tasks && this.#weight < memory && !this.#runners.has(task.id)
    if (
      !this.#open ||
      !room ||
      this.#lined ||
      task.startAt !== null ||
      task.gates ||
      !this.workflow(task.workflow, task.version)
    )
      return null
    if (this.#options.registry.paused.has(task.workflow)) return null
    return new Promise((resolve, reject) => {
      const created = (outcome: CommitOutcome | Error) => {
        if (outcome instanceof Error) return reject(outcome)
        if (outcome.ok && this.telemetry['task:submitted'].open)
          this.telemetry['task:submitted'].tell(submission(task, this.node))
        resolve(outcome)
      }
      const runner = TaskRunner.create(this, draft, created)
      this.#runners.set(task.id, runner)
    })
  }

  /** Takes nothing new and hands back what it owns. */
  stop(): void {
    this.#close()
    for (const runner of [...this.#runners.values()]) runner.release(false)
  }

  /** Attempts that still run after `grace` ms are aborted, and then left as lost. */
  async drain(grace: number): Promise<void> {
    if (await this.#empty(grace)) return
    const reason = new TriarchError('NODE_STOPPED', 'the node is stopping')
    this.#locals.abortAll(reason)
    for (const host of this.#options.hosts.values()) host.abortAll(reason)
    if (await this.#empty(Math.min(grace, 1_000))) return
    for (const runner of [...this.#runners.values()]) runner.release(true)
    await this.#empty(1_000)
    this.abandon(reason)
  }

  /** Forgets all tasks: they belong to others now. */
  abandon(reason: Error): void {
    this.#close()
    for (const runner of [...this.#runners.values()]) runner.discard(reason, this.handsOn)
    this.#locals.abandonAll(reason)
  }

  #close(): void {
    this.#open = false
    this.alarm.stop()
    this.#retry?.cancel()
  }

  action(key: string): Action | undefined {
    return this.#options.registry.action(key)
  }

  get planning(): RunnerHost['planning'] {
    return this.#options.registry
  }

  workflow(name: string, version: string): Workflow | undefined {
    return this.#options.registry.workflow(name, version)
  }

  pages(id: string, after: number): AsyncIterable<HistoryRecord[]> {
    return pagesAfter(this.#options.store, id, after)
  }

  inboxAfter(key: number, after: number): Promise<InboxMessage[]> {
    return this.#options.store.taskInbox(key, after, { limit: 1_000, bytes: 4 * 1024 * 1024 })
  }

  replayed(runner: TaskRunner): void {
    if (this.#claimSize.opened(runner)) this.wake(hints.tasks)
  }

  settled(runner: TaskRunner): void {
    if (!this.#onProbation.delete(runner)) return
    const { key, epoch } = runner
    runner.strikes = null
    this.#options.store.clearSuspicion({ key: key ?? 0, node: this.node, epoch }).catch(this.#options.failed)
    this.wake(hints.tasks)
  }

  reserve(action: string, state: TaskState, step: Step): boolean {
    const agent = agentOf(action)
    const host = this.#options.hosts.get(agent)
    if (!host) return false
    // The rank is computed only if it matters, because every step passes here.
    if (host.backlog.empty && host.slots.parted === null) return host.reserve(action)
    const rank = this.#queueing.rank(agent, state, step)
    return host.backlog.admits(rank) && host.reserve(action, rank)
  }

  standing(action: string, state: TaskState, step: Step): QueuePosition {
    const agent = agentOf(action)
    const standing = this.#queueing.standing(agent, state, step)
    const host = this.#options.hosts.get(agent)
    host?.backlog.queued(standing.rank)
    const queue = host?.queueOf({ action, input: step.input })
    return queue ? { ...standing, queue } : standing
  }

  unreserve(action: string, state: TaskState, step: Step): void {
    const agent = agentOf(action)
    this.#options.hosts.get(agent)?.unreserve(action, this.#queueing.rank(agent, state, step))
  }

  lease(action: string): number | null {
    return this.#options.hosts.get(agentOf(action))?.lease ?? null
  }

  attempt(runner: TaskRunner, step: Step, request: StepRequest, local: LocalCode | undefined): void {
    const { policy, expiresAt, operation } = step
    const host = local ? this.#locals : this.#options.hosts.get(agentOf(request.action))
    if (local) this.#locals.slots.take()
    const within = this.environment.now() + policy.completeWithin
    const completeBy =
      operation === 'run' ? Math.min(within, expiresAt ?? within, runner.state.completeBy ?? within) : within
    const heartbeatWithin = operation === 'run' ? policy.heartbeatWithin : null
    // The slot must go back to the pool that it was taken from.
    if (host?.slots.parted != null) request.rank = this.#queueing.rank(host.name, runner.state, step)
    host?.start(new OwnAttempt(runner, request, { completeBy, heartbeatWithin }), local && this.#handler(local, runner))
  }

  #handler(local: LocalCode, { key, epoch }: TaskRunner): Handler {
    if (!('effect' in local)) return local
    const { environment, node } = this
    const { payload } = this.limits
    return effectHandler(local.effect, { environment, store: this.#options.store, payload, key: key ?? 0, node, epoch })
  }

  abortStep(task: string, step: number): void {
    const reason = new TriarchError('STEP_CANCELLED', 'the task stops')
    this.#locals.abort(task, step, reason)
    for (const host of this.#options.hosts.values()) host.abort(task, step, reason)
  }

  abandonStep(task: string, step: number, reason: Error): void {
    this.#locals.abandon(task, step, reason)
    for (const host of this.#options.hosts.values()) host.abandon(task, step, reason)
  }

  committed(runner: TaskRunner, turn: Turn, transition: Transition, told: boolean): void {
    if (runner.key !== null && !this.#byKey.has(runner.key)) this.#byKey.set(runner.key, runner)
    if (runner.size !== runner.weight) this.#weigh(runner, runner.size)
    this.lostTailDetector.see(runner, transition)
    this.#quarantine.accepted(runner.id)
    for (const alert of turn.alerts) this.#options.alert(sayable(alert, turn.state))
    this.#options.committed(runner.state)
    for (const { action, priority } of transition.work) {
      const host = this.#options.hosts.get(agentOf(action))
      if (host) host.backlog.queued(priority)
      else this.#options.wonder(runner.id, action)
    }
    if (transition.work.length > 0) this.#options.queued()
    const { children, posts, withdraw } = transition
    if (children.length > 0 && this.telemetry['task:submitted'].open)
      for (const child of children) this.telemetry['task:submitted'].tell(submission(child, this.node))
    if (told || children.length + posts.length + withdraw.length > 0) this.wake()
    else if (this.inbox.crowded) this.wake(hints.mail)
    const wakeAt = transition.release?.wakeAt ?? null
    if (wakeAt !== null) this.alarm.set(wakeAt)
    // The task was due by the store's clock only. Left alone until this node's clock agrees, it is not taken and given back endlessly.
    if (wakeAt !== null && runner.key !== null && !runner.moved)
      this.#leave(runner.key, Math.min(wakeAt - this.environment.now(), TOO_EARLY))
    for (const { startAt } of children) if (startAt !== null) this.alarm.set(startAt)
  }

  gone(runner: TaskRunner): void {
    if (this.#runners.get(runner.id) === runner) this.#runners.delete(runner.id)
    if (runner.key !== null && this.#byKey.get(runner.key) === runner) this.#byKey.delete(runner.key)
    if (this.#claimSize.opened(runner)) this.wake(hints.tasks)
    this.#weigh(runner, 0)
    if (this.#onProbation.delete(runner) || runner.unread) this.wake(hints.tasks)
    if (this.#runners.size === 0) for (const wake of this.#emptied.splice(0)) wake()
    if (this.#crowded || this.#runners.size === this.limits.tasks - 1) this.wake(hints.tasks)
  }

  failed(runner: TaskRunner, error: Error): TriarchError | null {
    this.#options.failed(error)
    return this.#quarantine.judge(runner.id, error, runner.strikes ?? 0)
  }

  requestLost(runner: TaskRunner): void {
    this.lostTailDetector.requestLost(runner)
  }

  refused(runner: TaskRunner, cause: Error, tries: number): number | Error {
    // Whatever the cause, the failure is the store's, not the turn's.
    const error = isTriarchError(cause) ? cause : new TriarchError('STORE_FAILED', String(cause), { cause })
    if (isTriarchError(error, 'STORE_CLOSED')) return error
    if (tries === 0) this.#options.failed(error)
    const why = this.#quarantine.judge(runner.id, error, runner.strikes ?? 0)
    return why ?? this.#quarantine.rest(runner.id)
  }

  handOn(task: string, messages: readonly Message[]): Promise<void> {
    const { environment, store, failed } = this.#options
    return handOn({ environment, store, failed }, task, messages)
  }

  letGo(runner: TaskRunner, why: TriarchError | null): void {
    const rest = this.#quarantine.rest(runner.id)
    if (runner.key !== null) this.#leave(runner.key, rest)
    if (why) this.#setApart(runner, runner.orphaned, why)
    else this.giveBack(runner, rest, runner.orphaned)
  }

  /** Leaves the task to other nodes for `rest` ms. An inbox message makes it ready all the same, whatever its row says. */
  #leave(key: number, rest: number): void {
    if (rest <= 0) return
    this.#left.set(key, this.environment.monotonic() + rest)
    this.alarm.set(this.environment.now() + rest)
  }

  #setApart(task: Owned, orphaned: boolean, why: TriarchError): void {
    void this.#quarantine.setApart(task, orphaned, why).then((done) => {
      this.lostTailDetector.givenBack()
      if (done) this.wake()
      else this.giveBack(task, this.#quarantine.rest(task.id), orphaned)
    })
  }

  giveBack(task: Owned & { strikes?: number | null }, rest = 0, orphaned = true): void {
    if (task instanceof TaskRunner) this.lostTailDetector.judge(task)
    const { environment, node } = this
    const { store, queued } = this.#options
    const refused = async (error: Error) => {
      const why = this.#quarantine.judge(task.id, error, 0)
      return why !== null && (await this.#quarantine.setApart(task, orphaned, why))
    }
    this.#leaving.add(task.id)
    void releaseAfterError({ environment, store, node, rest, refused }, task, orphaned).then(() => {
      this.#leaving.delete(task.id)
      this.lostTailDetector.givenBack()
      this.wake()
      if (rest > 0) this.alarm.set(environment.now() + rest)
      // The transition may have been written although it failed, in which case the agents were not notified of its work.
      queued()
    })
  }

  hasUnknownOwner(error: Error): void {
    this.#options.failed(error)
  }

  stalled({ id, state }: TaskRunner): void {
    this.#options.wonder(id, `rest of ${state.workflow}@${state.version}`)
  }

  #weigh(runner: TaskRunner, bytes: number): void {
    this.#weight += bytes - runner.weight
    runner.weight = bytes
  }

  idle(runner: TaskRunner): void {
    if (this.#crowded && runner.idle) runner.release(false)
  }

  count(stale: number): void {
    if (stale > 0) this.#options.stale(stale)
  }

  async #poll(): Promise<void> {
    while (this.#wanted.size > 0 && this.#open) {
      const wanted = this.#wanted
      this.#wanted = hints.nothing
      try {
        if (wanted.has('mail')) await this.#deliver()
        if (wanted.has('tasks') && this.#open) await this.#claim()
        this.#backoff.reset()
      } catch (error) {
        // A node that is stopping does not need the answer, nor its error.
        if (this.#open) this.#options.failed(error)
        this.#again(wanted)
        break
      }
      // Other work gets a turn of the event loop between two rounds.
      if (this.#wanted.size > 0) await new Promise<void>((resolve) => this.environment.soon(resolve))
    }
    this.#polling = false
  }

  /** After a failure no round begins before the backoff is over, whoever asks for one. */
  #again(wanted: ReadonlySet<Hint>): void {
    if (!this.#open) return
    this.#retry = this.environment.timer(this.#backoff.next(), () => {
      this.#retry = null
      this.wake(wanted)
    })
  }

  async #deliver(): Promise<void> {
    const again = await this.inbox.deliver(
      this.#options.store,
      this.node,
      ({ id, key, message }) => this.#byKey.get(key)?.push(message, id) === true,
    )
    if (again) this.wake(hints.mail)
  }

  async #claim(): Promise<void> {
    const { limits } = this
    this.#crowded = this.#runners.size >= limits.tasks || this.#weight >= limits.memory
    this.#lined ||= this.#crowded
    if (this.#crowded) return this.#evict(MOST_EVICTED)
    const limit = Math.min(limits.tasks - this.#runners.size, this.#claimSize.tasks)
    if (limit <= 0 || this.#onProbation.size > 0) return
    const { ready: runnable } = this.#options.registry
    const trial = this.#claimSize.idle && !this.#tried
    const held = this.#unsure && { held: [...this.#runners.keys()] }
    const bytes = Math.min(this.#claimSize.bytes, limits.memory - this.#weight)
    this.#unsure = true
    const now = this.environment.monotonic()
    for (const [key, until] of this.#left) if (until <= now) this.#left.delete(key)
    const except = [...this.#left.keys()]
    const { ageing } = this.#options
    const request = { node: this.node, runnable, limit, bytes, trial, except, ...held, ...(ageing && { ageing }) }
    const asked = this.environment.monotonic()
    const claims = await this.#options.store.claim(request).catch((error) => {
      this.#claimSize.failed()
      throw error
    })
    this.#tellClaims(claims, asked)
    this.#unsure = false
    this.outrun = claims.length > 0 ? 0 : this.outrun + 1
    const more = claims.at(-1)?.more === true
    if (claims[0]?.trial === undefined) this.#lined = more
    if (more || (claims.length === 0 && this.#tried)) this.wake(hints.tasks)
    this.#tried = claims[0]?.trial !== undefined
    for (const claim of claims) this.#take(claim)
  }

  #tellClaims(claims: readonly Claim[], asked: number): void {
    const { environment, node, telemetry } = this
    const at = environment.now()
    if (telemetry.claim.open)
      telemetry.claim.tell({ at, node, tasks: claims.length, ms: environment.monotonic() - asked })
    if (!telemetry['task:claimed'].open) return
    for (const { id: task, workflow, version, epoch, orphaned, rest, records } of claims) {
      const bytes = rest ?? records.reduce((sum, it) => sum + it.events.length, 0)
      telemetry['task:claimed'].tell({ at, node, task, workflow, version, epoch, orphaned, bytes })
    }
  }

  #take(claim: Claim): void {
    this.#runners.get(claim.id)?.discard(new TriarchError('NODE_FENCED', 'the task was claimed anew'), true)
    const { trial, rest, unread } = claim
    if (trial && trial.strikes >= MAX_PROBATION_DEATHS)
      return this.#setApart(claim, claim.orphaned, this.#quarantine.deaths(trial.strikes))
    if (rest !== undefined && rest > this.limits.memory - this.#weight) return void this.#makeRoom(claim, rest)
    const weight = rest ?? claim.records.reduce((sum, it) => sum + (it.stored ?? it.events.length), 0)
    const runner = TaskRunner.claim(this, claim)
    this.#runners.set(claim.id, runner)
    this.#byKey.set(claim.key, runner)
    this.#weigh(runner, weight)
    this.#claimSize.claimed(runner)
    if (trial) this.#onProbation.add(runner)
    if (unread) this.inbox.flooded(claim.key)
    // A drain that began while the claim was under way did not know of this task.
    if (!this.#open) runner.release(false)
  }

  /**
   * A task with no room at the moment is left and claimed again later. One larger than this node's limit is left for a node with more
   * memory; if there is none, it is quarantined.
   */
  async #makeRoom(claim: Claim, bytes: number): Promise<void> {
    const { memory } = this.limits
    const { id, epoch, orphaned, trial } = claim
    const task = { id, epoch, strikes: trial?.strikes ?? null }
    this.#evict(MOST_EVICTED)
    const nodes = bytes > memory ? await this.#options.store.nodes().catch(() => null) : null
    const name = `${claim.workflow}@${claim.version}`
    const larger = nodes?.some(({ runs }) => (runs?.memory ?? 0) >= bytes && runs?.workflows.includes(name))
    if (nodes && !larger) {
      const message = `its history has ${bytes} bytes, and no node takes more than ${memory}`
      const why = this.#quarantine.judge(id, new TriarchError('TASK_TOO_LARGE', message), 0)
      if (why) return this.#setApart(task, orphaned, why)
    }
    this.#leave(claim.key, Math.round((larger ? TOO_LARGE_REST : NO_ROOM_REST) * (1 + this.environment.random())))
    this.giveBack(task, 0, orphaned)
  }

  /** Lets the longest idle tasks go to make room, and in any case those that have been idle for too long. */
  #evict(count: number): void {
    const since = this.environment.monotonic() - this.limits.idle
    const idle = [...this.#runners.values()].filter((runner) => runner.idle && (count > 0 || runner.idleSince <= since))
    idle.sort((a, b) => a.idleSince - b.idleSince)
    // Without idle tasks, movable ones go: the task for which there is no room may be the one they wait for.
    if (count > 0 && idle.length === 0) idle.push(...[...this.#runners.values()].filter(({ movable }) => movable))
    for (const [index, runner] of idle.entries()) {
      if (index >= count && runner.idleSince > since) return
      runner.release(false)
    }
  }

  #empty(within: number): Promise<boolean> {
    if (this.#runners.size === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = this.environment.timer(within, () => resolve(this.#runners.size === 0))
      this.#emptied.push(() => {
        timer.cancel()
        resolve(true)
      })
    })
  }
}

/** The alert's message may quote an error that was not recorded, and so was not scrubbed of secrets yet. */
function sayable(alert: RaisedAlert, { secrets }: TaskState): RaisedAlert {
  return secrets === null ? alert : { ...alert, message: secrets.texts.scrub(alert.message) }
}
