import type { Peering, PeerNode } from '../agent/peer.ts'
import { Remotes } from '../agent/remote.ts'
import { shareOf } from '../definition/fairness.ts'
import { toHookOrders } from '../definition/hook.ts'
import type { SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import type { Owner } from '../environment/owner.ts'
import { SteadyEnvironment } from '../environment/steady.ts'
import { STORE_ANSWER_BUDGET_MS, StopBudget } from '../environment/stop-budget.ts'
import { SynchronisedEnvironment } from '../environment/synchronised.ts'
import { systemEnvironment } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
import { unhandled } from '../error/unhandled.ts'
import type { Engine } from '../health/look.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Candidate } from '../node/candidate.ts'
import { type Counters, Node } from '../node/node.ts'
import { type Settings, settingsOf, type TriarchOptions } from '../node/options.ts'
import type { BreakerPhase } from '../policy/breaker.ts'
import { Registry } from '../scheduler/registry.ts'
import { SettingFile } from '../setting/file.ts'
import { valuesOf } from '../setting/followed.ts'
import { engineSetting } from '../setting/own.ts'
import { SettingsReader } from '../setting/reader.ts'
import type { Values } from '../setting/values.ts'
import { withCodecs } from '../store/codec/coded.ts'
import { withDeadline } from '../store/deadline.ts'
import { withOutputs } from '../store/output.ts'
import type { NodeRow, StateStore } from '../store/port.ts'
import { SigningKeys } from '../store/signing-keys.ts'
import { LEASE } from '../supervisor/supervisor.ts'
import type { TelemetryOrigin } from '../telemetry/catalogue.ts'
import { checkLogLevel, Log } from '../telemetry/logger.ts'
import { type Telemetry, telemetryOf } from '../telemetry/outlet.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import type { LogLevel } from '../value/level.ts'
import { type TokenContent, tokenText } from '../value/token.ts'
import { Direct } from '../wire/direct.ts'
import { type RemoteAgents, Sessions } from '../wire/sessions.ts'
import { AdmissionQueue } from './admission-queue.ts'
import type { AlertCollection } from './alert.ts'
import { Alerting } from './alerting.ts'
import { type AuditCollection, auditOf } from './audit.ts'
import { type BreakerCollection, breakersOf, MOST_BREAKERS } from './breaker.ts'
import { type CacheCollection, cachesOf } from './caches.ts'
import type { TriarchClient } from './client.ts'
import { Connection } from './connection.ts'
import { EngineHealth, type HealthCollection } from './health.ts'
import {
  type AgentCollection,
  inventoryOf,
  type LockCollection,
  type NodeCollection,
  type WorkflowCollection,
} from './inventory.ts'
import type { KeyCollection } from './key.ts'
import { type EngineLeaders, StoredLeaders } from './leaders.ts'
import { codedAlert, type EngineEvents, errorListener, Listeners } from './listeners.ts'
import type { SubmitResult, TaskEntry } from './many.ts'
import { type BulkOperations, operationsOf } from './operation.ts'
import { type RateLimitCollection, rateLimitsOf } from './rate-limit.ts'
import type { ScheduleCollection } from './schedule.ts'
import { EngineServing, type Serving } from './serving.ts'
import type { SettingCollection } from './setting.ts'
import { StallDetector } from './stall-detector.ts'
import { type StatisticsCollection, StoredStatistics } from './statistics.ts'
import { alertsOf } from './stored-alert.ts'
import { apiKeysOf } from './stored-key.ts'
import { schedulesOf } from './stored-schedule.ts'
import { settingCollection } from './stored-setting.ts'
import type { SubmitOptions } from './submission.ts'
import { Submitter } from './submitter.ts'
import type { TaskHandle } from './task.ts'
import { operatorOf, StoredTasks, type TaskCollection } from './tasks.ts'
import { Warnings } from './warnings.ts'

/** A node asks for the store's clock again after this long, if nothing else did (ms). */
const OLDEST_CLOCK = 30_000
/** A process without a node checks this often for changed settings, if it submits tasks (ms). */
const OLDEST_READING = 1_000

/**
 * One Triarch process: submits and watches tasks; once started, it plays its roles.
 * @example
 * const shop = { store: sqlite('shop.db'), workflows: [fulfil], agents: [payments] }
 * await using triarch = new Triarch(shop)
 * await triarch.start()
 * const task = await triarch.submit(fulfil, { id: 'o-1', amount: 10 }, { id: 'o-1' })
 */
export class Triarch implements TriarchClient, AsyncDisposable {
  /**
   * The tasks.
   * @example const { tasks } = await triarch.tasks.list({ filter: 'status:paused' })
   */
  readonly tasks: TaskCollection
  /**
   * The schedules.
   * @example await triarch.schedules.get('nightly').pause({ reason: 'stock-taking' })
   */
  readonly schedules: ScheduleCollection
  /**
   * The circuit breakers.
   * @example await triarch.breakers.get('payments').open({ reason: 'maintenance of the bank' })
   */
  readonly breakers: BreakerCollection
  /**
   * The rate limits.
   * @example await triarch.rateLimits.get('payments').lift({ reason: 'the bank has no limit tonight' })
   */
  readonly rateLimits: RateLimitCollection
  /**
   * The settings.
   * @example await triarch.settings.get('payments.limits').rollback({ reason: 'too many refusals' })
   */
  readonly settings: SettingCollection
  /**
   * The alerts.
   * @example await triarch.alerts.get('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
   */
  readonly alerts: AlertCollection
  /**
   * The API keys, and the secret that signs tokens.
   * @example const { secret } = await triarch.keys.get('billing').create({ rights: ['read'], expiresIn: '90d' })
   */
  readonly keys: KeyCollection
  /**
   * The workflows that nodes run.
   * @example const { workflows } = await triarch.workflows.list()
   */
  readonly workflows: WorkflowCollection
  /**
   * The agents.
   * @example for (const { name, queue } of (await triarch.agents.list()).agents) console.log(name, queue.depth)
   */
  readonly agents: AgentCollection
  /**
   * The locks that tasks hold.
   * @example for (const { name, holder } of (await triarch.locks.list()).locks) console.log(name, holder)
   */
  readonly locks: LockCollection
  /**
   * The leaderships, and leading.
   * @example const { leaders } = await triarch.leaders.list()
   */
  readonly leaders: EngineLeaders
  /**
   * The nodes, and how many are needed.
   * @example for (const { id, roles } of await triarch.nodes.list()) console.log(id, roles)
   */
  readonly nodes: NodeCollection
  /**
   * The audit: who did what, on what, when and why.
   * @example const { entries } = await triarch.audit.list({ subject: 'task:o-1' })
   */
  readonly audit: AuditCollection
  /**
   * Counts of what is in the store, and of what happened.
   * @example const { ready, work } = await triarch.statistics.get()
   */
  readonly statistics: StatisticsCollection
  /**
   * The cached answers of actions.
   * @example await triarch.caches.invalidate({ tag: 'customer:7' })
   */
  readonly caches: CacheCollection
  /**
   * The health of the engine, and of the endpoints that a prober watches.
   * @example const { status } = await triarch.health.check()
   */
  readonly health: HealthCollection
  /**
   * What a server in front of this engine needs.
   * @example const key = await triarch.serving.keyring().verify(secret)
   */
  readonly serving: Serving
  /** The environment, with the store's wall clock. */
  readonly #environment: SynchronisedEnvironment
  /** The environment of this machine. */
  readonly #machine: Environment
  readonly #settings: Settings
  readonly #registry: Registry
  readonly #store: StateStore
  readonly #admission: AdmissionQueue
  readonly #connection: Connection
  readonly #signing: SigningKeys
  readonly #counters: Counters = { stale: 0, fenced: 0 }
  readonly #listeners: Listeners
  readonly #warnings: Warnings | null
  readonly #stalls: StallDetector
  readonly #failed: (error: unknown) => void
  /** Responsible for errors of code around submissions and views. */
  readonly #owner: Owner = { left: (error) => this.#failed(unhandled('code of a definition', error)) }
  readonly #telemetry: Telemetry
  readonly #log: Log | null
  readonly #stopBudget: StopBudget
  readonly #remotes: Remotes
  readonly #candidates = new Set<Candidate>()
  readonly #submitter: Submitter
  readonly #serving: EngineServing
  readonly #alerting: Alerting
  readonly #values: Values
  readonly #reader: SettingsReader
  #opened: Promise<void> | null = null
  #ready = false
  #node: Node | null = null
  #phase: 'new' | 'started' | 'stopping' | 'stopped' = 'new'
  #started: Promise<void> | null = null
  #stopped: Promise<void> | null = null

  constructor(options: TriarchOptions) {
    this.#settings = settingsOf(options)
    this.#remotes = new Remotes(this.#settings.lease)
    const given = options.environment ?? systemEnvironment()
    const isOver = () => this.#phase === 'stopped'
    // Errors of telemetry listeners are not reported to telemetry listeners.
    const { logger, logLevel, telemetry } = this.#settings
    const thrown = errorListener(options.onError, given, isOver)
    this.#log = logger && new Log(logger, logLevel, given, thrown)
    this.#telemetry = telemetryOf(telemetry, thrown, this.#log)
    const onError = options.onError ?? (logger ? () => undefined : undefined)
    this.#failed = errorListener(onError, given, isOver, (error) => {
      if (this.#telemetry.error.open) this.#telemetry.error.tell({ ...this.#origin(), error })
    })
    this.#listeners = new Listeners(this.#failed)
    const environment = options.environment ? new SteadyEnvironment(given, this.#failed) : given
    this.#warnings = this.#settings.notices && !logger ? new Warnings(environment) : null
    this.#environment = new SynchronisedEnvironment(environment)
    const seen = {
      explain: (id: string) => this.#connection.explained(id),
      alert: (raised: RaisedAlert) => this.#alert(raised),
    }
    this.#stalls = new StallDetector({ environment: this.#environment, failed: this.#failed, ...seen })
    let operations: BulkOperations | undefined
    const operationsHere = () => (operations ??= operationsOf(() => operatorOf(this.#connection)))
    const own = options.operations ? operationsHere() : { workflows: [], agents: [] }
    const [workflows, agents] = [options.workflows ?? [], options.agents ?? []]
    this.#registry = new Registry([...workflows, ...own.workflows], [...agents, ...own.agents], options.middleware)
    this.#values = valuesOf(this.#settings.settings, this.#registry.agents.values(), workflows)
    const hooks = toHookOrders('Triarch', options.hooks)
    this.#machine = environment
    this.#stopBudget = new StopBudget(environment, this.#failed)
    const store = withOutputs(withCodecs(options.store(environment), this.#settings.codecs, this.#failed))
    this.#store = withDeadline(store, environment, () => this.#node?.doubt())
    this.#admission = new AdmissionQueue(environment, this.#store, (workflow, most, outcome) => {
      const outlet = this.#telemetry['queue:full']
      if (outlet.open) outlet.tell({ ...this.#origin(), workflow, most, outcome })
    })
    const { settingsFile, labels } = this.#settings
    this.#reader = new SettingsReader({
      environment: this.#environment,
      store: this.#store,
      values: this.#values,
      file: settingsFile === null ? null : new SettingFile(settingsFile),
      labels,
      taken: () => this.#setLevel(),
      telemetry: this.#telemetry,
      alert: (alert) => this.#alert(alert),
      failed: this.#failed,
    })
    this.#reader.recall()
    this.#signing = new SigningKeys({ store: this.#store, environment: this.#environment, failed: this.#failed })
    this.#connection = new Connection(this.#store, this.#environment, this.#settings, this.#registry)
    this.#connection.owner = this.#owner
    this.#connection.unsubmitted = (id) => this.#admission.explain(id)
    const { fairness } = this.#settings
    const weights = () => this.#values.reading(engineSetting).value.weights
    if (fairness) this.#connection.share = (task) => shareOf(fairness, task, this.#failed, weights())
    this.#connection.opened = () => this.#open()
    this.#connection.isLocal = (id) => this.#node?.scheduler?.has(id) ?? false
    this.#connection.isGone = (node) => this.#gone(node)
    this.#connection.said = async () => this.#node?.said()
    this.#connection.posted = () => this.#node?.wake()
    const [connection, signing, failed] = [this.#connection, this.#signing, this.#failed]
    const admit = (transaction?: unknown) => this.#admit(transaction)
    this.#submitter = new Submitter({
      ...{ connection, registry: this.#registry, values: this.#values, limits: this.#settings.limits, hooks, admit },
      ...{ owner: this.#owner, admission: this.#admission, stalls: this.#stalls, telemetry: this.#telemetry },
      node: () => this.#node,
      isOld: () => this.#isOld(),
      refresh: () => this.#synchronise(),
    })
    this.tasks = new StoredTasks({ connection, signing, operations: operationsHere, admit, submitter: this.#submitter })
    const known = async () => this.#node?.known()
    const changed = (alert: RaisedAlert) => {
      this.#alert(alert)
      this.#node?.changed()
    }
    this.schedules = schedulesOf(connection)
    this.breakers = breakersOf(connection, { changed, known })
    this.rateLimits = rateLimitsOf(connection, known)
    this.settings = settingCollection(connection, this.#values, () => this.#reader.read())
    this.serving = this.#serving = new EngineServing({ connection, failed, remoteAgents: () => this.#remoteAgents() })
    const health = new EngineHealth(this.#looked)
    this.health = health
    this.#alerting = new Alerting({
      ...{ environment: this.#environment, store: this.#store, settings: this.#settings.alerts },
      ...{ engine: this.#looked, health, alert: (alert) => this.#alert(alert), failed },
    })
    this.alerts = alertsOf(connection, () => this.#alerting.delivery)
    this.keys = apiKeysOf(connection, signing, async () => this.#serving.usedKeyring?.refresh())
    const inventory = inventoryOf(connection)
    this.workflows = inventory.workflows
    this.agents = inventory.agents
    this.locks = inventory.locks
    this.nodes = inventory.nodes
    this.leaders = new StoredLeaders({
      ...{ connection, candidates: this.#candidates, failed },
      checkRunning: () => this.#checkRunning(),
      stood: () => this.#node?.stood(),
    })
    this.audit = auditOf(connection)
    this.statistics = new StoredStatistics(connection, this.#counters)
    this.caches = cachesOf(connection, (by, name) => {
      const outlet = this.#telemetry['cache:invalidated']
      if (outlet.open) outlet.tell({ ...this.#origin(), by, name })
    })
  }

  /**
   * The least level of lines for the `logger`; 'silent': none is written. Throws INVALID_OPTION.
   * @example triarch.logLevel = 'debug'
   */
  get logLevel(): LogLevel | 'silent' {
    return this.#log?.level ?? this.#settings.logLevel
  }

  set logLevel(level: LogLevel | 'silent') {
    this.#settings.logLevel = checkLogLevel('logLevel', level)
    this.#setLevel()
  }

  /** A level that operators have set for all nodes takes precedence. */
  #setLevel(): void {
    if (this.#log) this.#log.level = this.#values.reading(engineSetting).value.logLevel ?? this.#settings.logLevel
  }

  /**
   * Opens the store and sets up its tables; start() and submit() do it by themselves. Throws STORE_*.
   * @example await triarch.open()
   */
  open(): Promise<void> {
    return this.#open()
  }

  /**
   * Starts this process's roles. A repeated call returns the same start; a failed one can be retried. Throws STORE_*; NODE_STOPPED once
   * stop() was called.
   * @example await triarch.start()
   */
  start(): Promise<void> {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') return Promise.reject(this.#isStopping())
    this.#started ??= this.#start()
    return this.#started
  }

  async #start(): Promise<void> {
    this.#phase = 'started'
    try {
      await this.#open()
      if (this.#phase !== 'started') throw this.#isStopping()
      await this.#join()
    } catch (error) {
      this.#started = null
      if (this.#phase === 'started') {
        this.#phase = 'new'
        this.#node = null
      }
      throw error
    }
  }

  #isStopping(): TriarchError {
    return new TriarchError('NODE_STOPPED', `this node ${this.#phase === 'stopped' ? 'has stopped' : 'is stopping'}`)
  }

  /**
   * Stops: takes no new work, lets running steps finish for `grace`, hands everything back. With a grace of 0, also in a second call, it
   * waits for nothing, and other nodes recover what was cut off. Nothing is lost either way. It resolves even if the store no longer
   * answers; errors of the store go to `onError`.
   * @example await triarch.stop({ grace: '30s' })
   */
  stop(options: { grace?: Duration } = {}): Promise<void> {
    const grace = milliseconds(options.grace ?? this.#settings.grace, 'grace')
    if (this.#stopped && grace === 0) this.#stopBudget.end()
    this.#stopped ??= this.#stop(grace)
    return this.#stopped
  }

  /** Stops, as stop() does: `await using triarch = new Triarch(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * Submits a task; once this resolves, it is never lost. The same id submitted twice is the same task (`ifExists`). A plan is made in
   * this call, unless the task starts later by itself. A workflow may be given by workflowRef() if it is registered here. Throws
   * UNKNOWN_WORKFLOW, INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE, QUEUE_FULL, TASK_EXISTS, LOCK_HELD, PLAN_*, STORE_*.
   * @example const task = await triarch.submit(fulfil, order, { id: 'o-1', completeBy: '1h' })
   */
  submit<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options: SubmitOptions = {},
  ): Promise<TaskHandle<O, E>> {
    return this.#submitter.submit(workflow, input, options)
  }

  /**
   * Submits each task of a list separately, as submit() does, and returns the result of each, in the order of the list; a task that
   * cannot be submitted does not keep others from being submitted. 1,000 are under way at a time, and share transactions. Throws
   * INVALID_OPTION, UNKNOWN_WORKFLOW, STORE_TRANSACTION_INVALID, STORE_*.
   * @example
   * const entries = [1, 2, 3].map((amount) => ({ input: { id: `o-${amount}`, amount } }))
   * const results = await triarch.submitMany(fulfil, entries)
   */
  submitMany<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
    options: Pick<SubmitOptions, 'transaction'> = {},
  ): Promise<SubmitResult<O, E>[]> {
    return this.#submitter.submitMany(workflow, entries, options)
  }

  /** Throws unless tasks can be submitted now. */
  async #admit(transaction: unknown): Promise<void> {
    this.#checkRunning()
    if (transaction !== undefined && !this.#ready) {
      throw new TriarchError('STORE_TRANSACTION_INVALID', 'open() the store before you begin a transaction on it')
    }
    await this.#open()
  }

  /** Throws NODE_STOPPED if this process has begun to stop. */
  #checkRunning(): void {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') throw this.#isStopping()
  }

  /** A node learns the time and of changed settings by polling; other processes before a submission. */
  #isOld(): boolean {
    return this.#environment.old || (this.#node === null && this.#reader.age > OLDEST_READING)
  }

  /** Whether the node's process is known to be gone, regardless of its lease. */
  #gone({ place }: NodeRow): boolean {
    return place !== null && (this.#machine.gone?.(place) ?? false)
  }

  #remoteAgents(): RemoteAgents {
    return new Sessions({
      environment: this.#environment,
      remotes: this.#remotes,
      store: this.#store,
      keys: this.#signing,
      token: (content: TokenContent) => this.#signing.sign('token', tokenText(content)),
      refused: () => this.#counters.stale++,
      state: (task) => this.#connection.state(task),
      hosted: (agent) => this.#registry.agents.has(agent),
      payload: this.#settings.limits.payload,
      lease: this.#settings.lease,
      posted: () => this.#node?.wake(),
      failed: this.#failed,
    })
  }

  /** What the health checks and alert rules inspect. */
  get #looked(): Engine {
    return {
      environment: this.#environment,
      machine: this.#machine,
      settings: this.#settings.health,
      store: async () => {
        await this.#open()
        return this.#store
      },
      node: () => this.#node?.id,
      blocked: () => this.#node?.blocked ?? null,
      stopping: () => this.#phase === 'stopping' || this.#phase === 'stopped',
      keys: () => this.#serving.usedKeyring?.state ?? null,
      agents: (cursor) => this.agents.list(cursor === undefined ? {} : { cursor }),
      breakers: (cursor) => this.breakers.list({ limit: MOST_BREAKERS, ...(cursor !== undefined && { cursor }) }),
    }
  }

  /**
   * Calls the listener until the returned function is called. What a listener throws or rejects with goes to `onError`. Alerts without a
   * listener are written to stderr, unless `notices` is false. Throws INVALID_OPTION.
   * @example const off = triarch.on('alert', ({ code, task, message }) => console.error(code, task, message))
   */
  on<E extends keyof EngineEvents>(event: E, listener: EngineEvents[E]): () => void {
    return this.#listeners.add(event, listener)
  }

  #open(): Promise<void> {
    // Connections and threads outlive this call, so they must not keep the first caller's context.
    this.#opened ??= CallContext.none.run(() => this.#openStore())
    return this.#opened
  }

  async #openStore(): Promise<void> {
    try {
      await this.#store.open()
      await this.#synchronise()
      this.#ready = true
    } catch (error) {
      await this.#store.close().catch(() => undefined)
      this.#opened = null // a later call may succeed
      throw error
    }
  }

  /** Reads the store's clock, and with it whether settings have changed. */
  async #synchronise(): Promise<void> {
    let mark = ''
    await this.#environment.synchronise(async () => {
      const { now, settings } = await this.#store.poll({ node: '', runnable: [], actions: [], lease: LEASE })
      mark = settings
      return now
    })
    await this.#reader.meet(mark)
  }

  async #join(): Promise<void> {
    const node = new Node({
      environment: this.#environment,
      store: this.#store,
      keys: this.#signing,
      registry: this.#registry,
      machine: this.#machine,
      before: this.#node?.hosts ?? null,
      // Polls set the clock as well.
      renewed: async (told) => {
        this.#signing.refresh()
        if (told) this.#environment.heard(told.asked, told.now, told.answered)
        else if (this.#environment.age > OLDEST_CLOCK) await this.#synchronise()
      },
      synchronise: (ask) => this.#environment.synchronise(ask),
      lag: () => this.#environment.lag,
      settings: this.#settings,
      remotes: this.#remotes,
      peering: this.#peering(),
      candidates: this.#candidates,
      values: this.#values,
      reader: this.#reader,
      counters: this.#counters,
      watch: this.#settings.alerts && (() => this.#alerting.watch()),
      alert: (alert) => this.#alert(alert),
      telemetry: this.#telemetry,
      moved: (state) => this.#connection.moved(state),
      swept: (report) => this.#listeners.tell('recovered', report),
      failed: this.#failed,
      wonder: (task, cause) => this.#stalls.wonder(task, cause),
      fenced: () => void this.#rejoin(),
    })
    this.#node = node
    await CallContext.none.run(() => node.start())
  }

  /** Makes the peering of a life of the node; null: direct dispatch is off. */
  #peering(): ((node: PeerNode) => Peering) | null {
    const { direct, lease, limits } = this.#settings
    const { network } = this.#machine
    if (!direct) return null
    if (!network) throw new TriarchError('INVALID_OPTION', 'Triarch: direct needs an environment that has a network')
    const { payload } = limits
    const means = {
      ...{ environment: this.#environment, network, settings: direct, lease, payload, failed: this.#failed },
      store: this.#store,
      keys: this.#signing,
      refused: () => this.#counters.stale++,
      state: (task: string) => this.#connection.state(task),
      posted: () => this.#node?.wake(),
    }
    return (node) => new Direct(means, node)
  }

  #alert(raised: RaisedAlert): void {
    const alert = codedAlert(raised)
    const { breaker, cause } = raised
    if (raised.code === 'BREAKER_CHANGED' && breaker !== undefined && this.#telemetry['breaker:moved'].open)
      this.#telemetry['breaker:moved'].tell({ ...this.#origin(), breaker, to: cause as BreakerPhase })
    if (this.#telemetry.alert.open) this.#telemetry.alert.tell({ ...this.#origin(), alert })
    if (this.#listeners.has('alert')) this.#listeners.tell('alert', alert)
    else this.#warnings?.tell(alert)
  }

  #origin(): TelemetryOrigin {
    return { at: this.#environment.now(), node: this.#node?.id ?? null }
  }

  /** A fenced node begins again under a new name. */
  async #rejoin(): Promise<void> {
    for (let wait = 100; this.#phase === 'started'; wait = Math.min(wait * 2, 5_000)) {
      try {
        return await this.#join()
      } catch (error) {
        this.#failed(error)
        await new Promise<void>((resolve) => void this.#environment.timer(wait, resolve))
      }
    }
  }

  async #stop(grace: number): Promise<void> {
    this.#phase = 'stopping'
    this.#stalls.close()
    this.#admission.close(this.#isStopping())
    this.#reader.close()
    this.#connection.live.close(this.#isStopping())
    const opened = this.#opened?.catch(() => undefined)
    // If the store is still being opened, it is closed afterwards.
    const close = async () => {
      await opened
      if (this.#opened !== null) await this.#store.close()
    }
    await this.#stopBudget.wait(opened, STORE_ANSWER_BUDGET_MS)
    await this.#node?.stop(grace, this.#stopBudget)
    this.#remotes.unbind()
    for (const candidate of [...this.#candidates]) candidate.forsake(this.#isStopping())
    this.#phase = 'stopped'
    this.#node = null
    await this.#stopBudget.wait(this.#serving.usedKeyring?.close(), STORE_ANSWER_BUDGET_MS)
    await this.#stopBudget.wait(close(), STORE_ANSWER_BUDGET_MS)
    this.#log?.end()
  }
}
