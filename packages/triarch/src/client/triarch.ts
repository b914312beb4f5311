import { isDeepStrictEqual } from 'node:util'
import type { Peering, PeerNode } from '../agent/peer.ts'
import { Remotes } from '../agent/remote.ts'
import { AlertDelivery, logSink } from '../alert/delivery.ts'
import type { AlertSinkTrial } from '../alert/sink.ts'
import { AlertWatch } from '../alert/watch.ts'
import { type QueueBound, toQueueBound } from '../definition/bound.ts'
import { invalidName } from '../definition/cache.ts'
import type { Action, Workflow } from '../definition/definition.ts'
import { shareOf } from '../definition/fairness.ts'
import { toHookOrders } from '../definition/hook.ts'
import { around, inOrder } from '../definition/middleware.ts'
import type { Setting } from '../definition/setting.ts'
import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import { type Owner, owned } from '../environment/owner.ts'
import { SteadyEnvironment } from '../environment/steady.ts'
import { STORE_ANSWER_BUDGET_MS, StopBudget } from '../environment/stop-budget.ts'
import { SynchronisedEnvironment } from '../environment/synchronised.ts'
import { systemEnvironment } from '../environment/system.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { unhandled } from '../error/unhandled.ts'
import { healthOf } from '../health/checks.ts'
import { listProbes, type ProbePage, type ProbesOptions } from '../health/endpoint.ts'
import type { Health, HealthReport, HealthRequest } from '../health/health.ts'
import { type Engine, HealthReads } from '../health/look.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { HookOrder, Submission } from '../kernel/task/order.ts'
import { invalidate } from '../node/cache.ts'
import { Candidate, type LeadOptions } from '../node/candidate.ts'
import { type Counters, Node } from '../node/node.ts'
import { type Settings, settingsOf, type TriarchOptions } from '../node/options.ts'
import type { Leadership } from '../node/term.ts'
import type { BreakerPhase } from '../policy/breaker.ts'
import { Registry } from '../scheduler/registry.ts'
import { SettingFile } from '../setting/file.ts'
import { closureOf, valuesOf } from '../setting/followed.ts'
import { engineSetting } from '../setting/own.ts'
import { SettingsReader } from '../setting/reader.ts'
import type { Values } from '../setting/values.ts'
import { withCodecs } from '../store/codec/coded.ts'
import { withDeadline } from '../store/deadline.ts'
import { type Draft, written } from '../store/origin.ts'
import { withOutputs } from '../store/output.ts'
import type { NodeRow, StateStore, SubmitOutcome } from '../store/port.ts'
import { legibleOutline } from '../store/record.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { SigningKeys } from '../store/signing-keys.ts'
import { LEASE } from '../supervisor/supervisor.ts'
import type { TelemetryOrigin } from '../telemetry/catalogue.ts'
import { checkLogLevel, Log } from '../telemetry/logger.ts'
import { type Telemetry, telemetryOf } from '../telemetry/outlet.ts'
import { submission } from '../telemetry/submission.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { type Invalidation, invalidationOf } from '../value/invalidation.ts'
import type { LogLevel } from '../value/level.ts'
import { checkMetadata } from '../value/metadata.ts'
import { checkTaskId } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { type TokenContent, tokenText } from '../value/token.ts'
import { breakerInfo } from '../view/breaker.ts'
import { conditionsOf } from '../view/condition.ts'
import { type Demand, type DemandOptions, demandOf, demandTerms } from '../view/demand.ts'
import type { TaskExport } from '../view/export.ts'
import { type Figures, type FiguresQuery, figures, type RecountOptions, recountBy } from '../view/figures.ts'
import {
  type AgentPage,
  agentPage,
  type LockPage,
  lockPage,
  type NamedPage,
  namedPage,
  type WorkflowPage,
  workflowPage,
} from '../view/inventory.ts'
import { type LeaderPage, leaderPage } from '../view/leader.ts'
import { type NodeInfo, nodeInfo } from '../view/node.ts'
import { type ListOptions, listedBy } from '../view/query.ts'
import type { Statistics } from '../view/statistics.ts'
import { fitsTrouble } from '../view/trouble.ts'
import { Direct } from '../wire/direct.ts'
import { type RemoteAgents, Sessions } from '../wire/sessions.ts'
import { type Acting, actingAs, actor, entryOf } from './act.ts'
import { AdmissionQueue } from './admission-queue.ts'
import {
  type AlertHandle,
  type AlertPage,
  type AlertsOptions,
  type AlertTestOptions,
  listAlerts,
  StoredAlertHandle,
  testAlert,
} from './alert.ts'
import { type AuditOptions, type AuditPage, checkRefused, listAudit, type RefusedAct } from './audit.ts'
import { type BreakerHandle, type BreakerPage, type BreakersOptions, NamedBreaker } from './breaker.ts'
import type { TriarchClient } from './client.ts'
import { refusedBy } from './closure.ts'
import { Connection } from './connection.ts'
import { StoredTask } from './handle.ts'
import { type ImportOptions, importTask } from './import.ts'
import { type KeyHandle, type KeyPage, type KeysOptions, listKeys, StoredKeyHandle } from './key.ts'
import { type Keyring, StoredKeyring } from './keyring.ts'
import { codedAlert, type EngineEvents, errorListener, Listeners } from './listeners.ts'
import { eachEntry, type SubmitResult, type TaskEntry } from './many.ts'
import { countMatching, MOST_MATCHING, matching, type TaskCount, without } from './matching.ts'
import {
  type BulkOperations,
  checkOperationId,
  checkOrder,
  OPERATION,
  type OperationOrder,
  type OperationReport,
  type Operator,
  operationsOf,
} from './operation.ts'
import { readPage, type TaskPage } from './page.ts'
import {
  listRateLimits,
  NamedRateLimit,
  type RateLimitHandle,
  type RateLimitPage,
  type RateLimitsOptions,
} from './rate-limit.ts'
import { listSchedules, StoredSchedule } from './registered.ts'
import { type ResumeOptions, resumeStep } from './resume.ts'
import type { ScheduleHandle, SchedulePage, SchedulesOptions } from './schedule.ts'
import { type RotatedSecret, rotateSecret, type SecretRotateOptions } from './secret.ts'
import type { SettingHandle, SettingPage, SettingsOptions } from './setting.ts'
import { StallDetector } from './stall-detector.ts'
import { listSettings, type SettingDeps, StoredSettingHandle } from './stored.ts'
import { newTask, type SubmitOptions, startsLater, submissionRefused } from './submission.ts'
import { EnclosedSubmissions, Submissions } from './submissions.ts'
import type { TaskHandle } from './task.ts'
import { Warnings } from './warnings.ts'
import { type CountsChange, type ListChange, type WatchOptions, watchedBy } from './watcher.ts'

/** A node asks for the store's clock again after this long, if nothing else did (ms). */
const OLDEST_CLOCK = 30_000
/** A process without a node checks this often for changed settings, if it submits tasks (ms). */
const OLDEST_READING = 1_000
/** Most breakers read in one call. */
const MOST_BREAKERS = 1_000

interface Submitted {
  id: string
  isNew: boolean
  /** If the task is new: `Connection.missed` before it existed. */
  missed: number | undefined
}

/**
 * One Triarch process: submits and watches tasks; once started, it plays its roles.
 * @example
 * const shop = { store: sqlite('shop.db'), workflows: [fulfil], agents: [payments] }
 * await using triarch = new Triarch(shop)
 * await triarch.start()
 * const task = await triarch.submit(fulfil, { id: 'o-1', amount: 10 }, { id: 'o-1' })
 */
export class Triarch implements TriarchClient, AsyncDisposable {
  /** The environment, with the store's wall clock. */
  readonly #environment: SynchronisedEnvironment
  /** The environment of this machine. */
  readonly #machine: Environment
  readonly #settings: Settings
  readonly #registry: Registry
  readonly #hooks: HookOrder[]
  readonly #store: StateStore
  readonly #submissions: Submissions
  readonly #admission: AdmissionQueue
  readonly #connection: Connection
  readonly #signing: SigningKeys
  #ownOperations: BulkOperations | null = null
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
  readonly #values: Values
  readonly #reader: SettingsReader
  #opened: Promise<void> | null = null
  #ready = false
  #node: Node | null = null
  #phase: 'new' | 'started' | 'stopping' | 'stopped' = 'new'
  #health: Health<HealthReads> | null = null
  #delivery: AlertDelivery | null = null
  #keyring: StoredKeyring | null = null
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
    const own = options.operations ? this.#operations : { workflows: [], agents: [] }
    const [workflows, agents] = [options.workflows ?? [], options.agents ?? []]
    this.#registry = new Registry([...workflows, ...own.workflows], [...agents, ...own.agents], options.middleware)
    this.#values = valuesOf(this.#settings.settings, this.#registry.agents.values(), workflows)
    this.#hooks = toHookOrders('Triarch', options.hooks)
    this.#machine = environment
    this.#stopBudget = new StopBudget(environment, this.#failed)
    const store = withOutputs(withCodecs(options.store(environment), this.#settings.codecs, this.#failed))
    this.#store = withDeadline(store, environment, () => this.#node?.doubt())
    this.#submissions = new Submissions(this.#store, environment)
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
  async submit<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options: SubmitOptions = {},
  ): Promise<TaskHandle<O, E>> {
    await this.#admit(options.transaction)
    return this.#accept(given, input, options)
  }

  /**
   * Submits each task of a list separately, as submit() does, and returns the result of each, in the order of the list; a task that
   * cannot be submitted does not keep others from being submitted. 1,000 are under way at a time, and share transactions. Throws
   * INVALID_OPTION, UNKNOWN_WORKFLOW, STORE_TRANSACTION_INVALID, STORE_*.
   * @example
   * const entries = [1, 2, 3].map((amount) => ({ input: { id: `o-${amount}`, amount } }))
   * const results = await triarch.submitMany(fulfil, entries)
   */
  async submitMany<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
    options: Pick<SubmitOptions, 'transaction'> = {},
  ): Promise<SubmitResult<O, E>[]> {
    checkOptions('submitMany', options, ['transaction'])
    const { transaction } = options
    await this.#admit(transaction)
    this.#registry.resolve(given as WorkflowRef)
    const within =
      transaction === undefined ? undefined : new EnclosedSubmissions(this.#store, this.#environment, transaction)
    return eachEntry(entries, (input, { ...entry }: SubmitOptions) => {
      if (entry.transaction !== undefined)
        throw new TriarchError('INVALID_OPTION', 'submitMany: the transaction is that of the whole list')
      return this.#accept(given, input, transaction === undefined ? entry : { ...entry, transaction }, within)
    })
  }

  /** Throws unless tasks can be submitted now. */
  async #admit(transaction: unknown): Promise<void> {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') throw this.#isStopping()
    if (transaction !== undefined && !this.#ready) {
      throw new TriarchError('STORE_TRANSACTION_INVALID', 'open() the store before you begin a transaction on it')
    }
    await this.#open()
  }

  async #accept<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    input: I,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
  ): Promise<TaskHandle<O, E>> {
    // A node learns of changed settings by polling.
    if (this.#environment.old || (this.#node === null && this.#reader.age > OLDEST_READING)) await this.#synchronise()
    const workflow = this.#registry.resolve(given as WorkflowRef)
    const { name } = workflow
    const closure = name === OPERATION ? null : closureOf(this.#values, this.#registry.workflows, name)
    if (closure) throw await refusedBy(this.#store, closure, name)
    const { maxQueued } = workflow.definition
    if (maxQueued === undefined || startsLater(options)) return this.#take<O, E>(workflow, input, options, within)
    const leave = await this.#enter(workflow, options)
    try {
      return await this.#take<O, E>(workflow, input, options, within)
    } finally {
      leave()
    }
  }

  /** Waits for room in the queue of its workflow. Throws QUEUE_FULL. */
  async #enter({ name, definition }: Workflow, { id, transaction }: SubmitOptions): Promise<() => void> {
    const bound = toQueueBound(`workflow "${name}"`, definition, 'reject') as QueueBound
    const waits = bound.waits && transaction === undefined
    try {
      return await this.#admission.enter(name, { ...bound, waits }, id)
    } catch (error) {
      // A task that is in the queue already takes no more room, however often it is submitted.
      const known = isTriarchError(error, 'QUEUE_FULL') && id !== undefined && (await this.#store.task(checkTaskId(id)))
      if (!known) throw error
      return () => undefined
    }
  }

  async #take<O, E extends SignalSchemas>(
    workflow: Workflow,
    input: unknown,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
  ): Promise<TaskHandle<O, E>> {
    const { middleware = [] } = workflow.definition
    let made: Submitted | undefined
    if (this.#registry.middleware.length + middleware.length === 0) {
      const made = await this.#submit(workflow, input, options, within)
      return new StoredTask<O, E>(this.#connection, made.id, workflow, made)
    }
    const chain = inOrder(this.#registry.middleware, middleware)
    const { tags = {}, transaction } = options
    const metadata = checkMetadata('submit', options.metadata ?? {})
    const call = { workflow: workflow.name, input, id: options.id, tags, metadata, transaction }
    await owned(this.#owner, () =>
      around(chain, 'submit', call, async (changed) => {
        const some = options.metadata !== undefined || Object.keys(metadata).length > 0
        made = await this.#submit(workflow, changed, some ? { ...options, metadata } : options, within)
        return made.id
      }),
    )
    if (made === undefined)
      throw new TriarchError('MIDDLEWARE_MISUSE', 'a middleware kept the task from being submitted')
    return new StoredTask<O, E>(this.#connection, made.id, workflow, made)
  }

  async #submit(
    workflow: Workflow,
    input: unknown,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
    again = true,
  ): Promise<Submitted> {
    const { limits } = this.#settings
    const id = () => this.#environment.id()
    const { share, missed } = this.#connection
    const given = { now: this.#environment.now(), limits, id, planning: this.#registry, hooks: this.#hooks, share }
    const make = () => newTask(workflow, input, options, given)
    const { input: schema, plan, exclusive } = workflow.definition
    const draft = await (schema || plan || exclusive || share ? owned(this.#owner, make) : make())
    const { task } = draft
    const { created, heldBy, first } = await this.#create(draft, options.transaction, within)
    if (heldBy !== undefined) throw submissionRefused(task, heldBy)
    // A task that waits for an operator is no sign of a missing scheduler.
    const isDue = task.status !== 'scheduled' && options.frozen !== true
    if (created && isDue) this.#stalls.wonder(task.id, `${workflow.name}@${workflow.version}`)
    const known = { ...options, again, ...(first !== undefined && { first }) }
    if (created || (await this.#same(draft, known)))
      return { id: task.id, isNew: created, missed: created ? missed : undefined }
    return this.#submit(workflow, input, options, within, false)
  }

  /**
   * A task by its id; whether it exists is only checked when it is used. `workflow`: its workflow, for the types and its `signals`.
   * @example const { receipt } = await triarch.task('o-1', fulfil).result()
   */
  task<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E> {
    const known = workflow === undefined ? undefined : this.#registry.resolve(workflow as WorkflowRef)
    return new StoredTask<O, E>(this.#connection, checkTaskId(id), known)
  }

  /**
   * Sends a signal with this value to a step, by the token that the step handed out; the step runs again as soon as it is suspended.
   * `name`: the signal's name, 'resume' by default. `optional`: a step that is done, or a task that has stopped or no longer exists, is
   * no error. Throws INVALID_TOKEN, TOKEN_SPENT, INBOX_FULL, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await triarch.resume(token, { paid: true })
   */
  async resume(token: string, value: unknown = null, options: ResumeOptions = {}): Promise<void> {
    await resumeStep(this.#connection, this.#signing, token, value, options)
  }

  /**
   * Imports a task with its history from another store, as exported there by `export({ secrets: true })`, completely or not at all. A
   * task that has not stopped is paused (`paused`), and its attempts under way have unknown outcomes. Importing the same history again is
   * the same task (`isNew`). Its children must be imported first. Locks, and tasks that it waits for, are not imported: the import is
   * refused as long as it needs them. Neither are logs and statistics. Throws IMPORT_REFUSED (`details.cause`: history, secrets, locks,
   * predecessors, children), IMPORT_TOO_LARGE (64 MiB), TASK_EXISTS, UNKNOWN_OPTION, INVALID_OPTION, INVALID_NAME, STORE_*.
   * @example
   * const task = await triarch.import(await triarch.task('o-1').export({ secrets: true }))
   * console.log(task.isNew)
   */
  async import(exported: TaskExport, options: ImportOptions = {}): Promise<TaskHandle> {
    await this.#admit(undefined)
    const isNew = await importTask({ store: this.#store, environment: this.#environment }, exported, options)
    this.#node?.wake()
    return new StoredTask(this.#connection, exported.task, undefined, { isNew })
  }

  /**
   * A schedule by its name; whether it exists is only checked when it is used. Throws INVALID_NAME.
   * @example
   * const when = { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }
   * await triarch.schedule('nightly').register({ workflow: fulfil, input: order, ...when })
   */
  schedule(name: string): ScheduleHandle {
    return new StoredSchedule(this.#connection, name)
  }

  /**
   * Schedules by name, a page at a time. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { schedules, next } = await triarch.schedules({ limit: 50 })
   * for (const { name, failing } of schedules) console.log(name, failing?.error.message ?? 'well')
   */
  async schedules(options: SchedulesOptions = {}): Promise<SchedulePage> {
    return listSchedules(this.#connection, options)
  }

  /**
   * A circuit breaker by its name: that of its agent, or `agent#key`. Whether it exists is only checked when it is used. Throws
   * INVALID_OPTION.
   * @example await triarch.breaker('payments').open({ reason: 'maintenance of the bank', actor: 'ada' })
   */
  breaker(name: string): BreakerHandle {
    return new NamedBreaker(this.#connection, name, {
      changed: (alert) => {
        this.#alert(alert)
        this.#node?.changed()
      },
      known: async () => this.#node?.known(),
    })
  }

  /**
   * Circuit breakers by name, a page at a time. For an agent with keys, only keys that ever failed are listed. Throws INVALID_OPTION.
   * @example
   * const { breakers, next } = await triarch.breakers({ limit: 50 })
   * for (const { name, state, waiting } of breakers) console.log(name, state, waiting)
   */
  async breakers(options: BreakersOptions = {}): Promise<BreakerPage> {
    checkOptions('breakers', options, ['cursor', 'limit'])
    const { cursor: after = '', limit = 100 } = options
    checkInteger('breakers: limit', limit, 1, MOST_BREAKERS)
    checkText('breakers: cursor', after, 300)
    await this.#open()
    const [now, rows] = await Promise.all([
      this.#store.now(),
      this.#store.breakers({ kind: 'breaker', after, limit: limit + 1, count: MOST_COUNTED }),
    ])
    const breakers = rows.slice(0, limit).flatMap((row) => breakerInfo(row, now) ?? [])
    const last = rows[limit - 1]
    return { breakers, ...(rows.length > limit && last && { next: last.name }) }
  }

  /**
   * A rate limit by its name: that of its agent or `agent.action`, with `#key` that of one key. Whether it exists is only checked when it
   * is used. Throws INVALID_OPTION.
   * @example await triarch.rateLimit('payments').change({ limit: 20, per: '1s', reason: 'a slow day' })
   */
  rateLimit(name: string): RateLimitHandle {
    return new NamedRateLimit(this.#connection, name, async () => this.#node?.known())
  }

  /**
   * Rate limits by name, a page at a time: those that nodes know; of limits with keys, the keys in use. Throws INVALID_OPTION.
   * @example
   * const { rateLimits } = await triarch.rateLimits({ limit: 50 })
   * for (const { name, limit, per, waiting } of rateLimits) console.log(name, limit, per, waiting)
   */
  async rateLimits(options: RateLimitsOptions = {}): Promise<RateLimitPage> {
    return listRateLimits(this.#connection, options)
  }

  /**
   * A setting, by its definition or its name; whether it exists is only checked when it is used. Throws INVALID_OPTION.
   * @example
   * const handle = triarch.setting('triarch.agent.payments')
   * await handle.change({ concurrency: 5 }, { reason: 'the bank asked for it' })
   */
  setting<T = unknown>(of: string | Setting<T>): SettingHandle<T> {
    return new StoredSettingHandle<T>(this.#settingMeans, of)
  }

  /**
   * Settings by name, a page at a time: those that were ever changed, and those that this process knows. Throws INVALID_OPTION.
   * @example
   * const { settings, next } = await triarch.settings({ limit: 50 })
   * for (const { name, live, drift } of settings) console.log(name, live?.value, drift)
   */
  settings(options: SettingsOptions = {}): Promise<SettingPage> {
    return listSettings(this.#settingMeans, this.#values.names, options)
  }

  get #settingMeans(): SettingDeps {
    return {
      store: this.#store,
      opened: () => this.#open(),
      known: (name) => this.#values.known(name),
      here: (name) => this.#values.here(name),
      living: () => this.#living(),
      id: () => this.#environment.id(),
      environment: this.#environment,
      changed: () => this.#reader.read(),
    }
  }

  /**
   * Tasks by a filter or by options, newest first, a page at a time. If too many other tasks have to be inspected, the page is
   * `truncated`, and `next` continues. Throws INVALID_FILTER.
   * @example
   * const { tasks, next } = await triarch.list({ filter: 'age:>2h status:paused tag.customer:c-7' })
   * const all = await triarch.list({ status: 'paused', tags: { customer: 'c-7' } })
   */
  async list(options: ListOptions = {}): Promise<TaskPage> {
    const { filter, page } = listedBy(options)
    await this.#open()
    const { where, rest } = conditionsOf(filter, this.#environment.now())
    const query = { where, ...page, order: filter.order ?? 'newest', copy: true }
    return readPage(this.#connection, query, rest.length > 0 ? (row) => fitsTrouble(row, rest) : undefined)
  }

  /**
   * The number of task transitions that this process has made durable; while it grows, the process has work.
   * @example const isBusy = (before: number) => triarch.moves > before
   */
  get moves(): number {
    return this.#connection.moves
  }

  /**
   * How many tasks fit the filter, counted up to `most` (1 to 10,000; 10,000). Throws INVALID_FILTER, INVALID_OPTION.
   * @example const { count, truncated } = await triarch.count({ filter: 'status:paused error:DECLINED' })
   */
  async count(options: { filter?: string; most?: number } = {}): Promise<TaskCount> {
    checkOptions('count', options, ['filter', 'most'])
    const { filter = '', most = MOST_MATCHING } = options
    checkInteger('count: most', most, 1, MOST_MATCHING)
    await this.#open()
    return countMatching(this.#rows, filter, most, true)
  }

  /**
   * Makes one request to all tasks that match a filter. The operation is a task, carried out by any node with `operations`, with a child
   * for each of them; its result is a report. The tasks are determined when it begins, and each is asked once. `id`: the same id is the
   * same operation. Throws MORE_THAN_CONFIRMED, INVALID_FILTER, INVALID_OPTION, TASK_EXISTS.
   * @example
   * const filter = 'status:paused'
   * const { count } = await triarch.count({ filter })
   * const operation = await triarch.operate({ filter, action: 'retry', confirm: count })
   * const { done, failed } = await operation.result()
   */
  async operate(order: OperationOrder, options: { id?: string } = {}): Promise<TaskHandle<OperationReport>> {
    checkOptions('operate', options, ['id'])
    const { action, confirm, filter } = checkOrder(order)
    const { id } = options
    // An existing operation was counted before, and may have changed which tasks match.
    if (id === undefined || (await this.#isNew(id))) {
      await this.#open()
      const found = await countMatching(this.#rows, without(filter, OPERATION), confirm + 1)
      if (found.count > confirm)
        throw new TriarchError('MORE_THAN_CONFIRMED', `operate: more than ${confirm} tasks fit the filter`)
    }
    const given = { ...(id !== undefined && { id: checkOperationId(id) }), tags: { triarch: 'operation', action } }
    const by = actor()
    const named = order.actor === undefined && by !== undefined ? { ...order, actor: by } : order
    return this.submit(this.#operations.operation, named, given)
  }

  async #isNew(id: string): Promise<boolean> {
    await this.#open()
    return (await this.#store.task(checkOperationId(id))) === null
  }

  #operator(): Operator {
    return { matching: (query) => matching(this.#rows, query), task: (id) => this.task(id) }
  }

  get #rows() {
    return { store: this.#store, now: () => this.#environment.now() }
  }

  /** Created on first use. */
  get #operations(): BulkOperations {
    this.#ownOperations ??= operationsOf(() => this.#operator())
    return this.#ownOperations
  }

  /**
   * A list of tasks now, and its changes: the tasks that match the filter, in its order, at most `limit`. All watches of this process
   * share their polls of the store. Changes in quick succession may be seen as one; those of other processes may take seconds to show.
   * Rejects with the signal's reason; with STORE_* if the store is unreachable, and NODE_STOPPED. Throws INVALID_FILTER, INVALID_OPTION.
   * @example
   * for await (const change of triarch.watch({ filter: 'status:paused' }))
   *   if (change.type === 'task') console.log(change.task.id, change.task.status)
   */
  async *watch(options: WatchOptions = {}): AsyncIterableIterator<ListChange> {
    const { filter, limit, quiet } = watchedBy(options)
    await this.#open()
    const watcher = await this.#connection.live.watchList(filter, limit)
    yield* watcher.changes(quiet, options.signal) as AsyncIterableIterator<ListChange>
  }

  /**
   * Counts of what is in the store, now and after each change seen. Otherwise as `watch`.
   * @example for await (const change of triarch.watchStatistics({ quiet: '15s' })) console.log(change.type)
   */
  async *watchStatistics(options: Pick<WatchOptions, 'quiet' | 'signal'> = {}): AsyncIterableIterator<CountsChange> {
    const { quiet } = watchedBy(options)
    await this.#open()
    const watcher = await this.#connection.live.watchCounts()
    yield* watcher.changes(quiet, options.signal) as AsyncIterableIterator<CountsChange>
  }

  /**
   * The living nodes, and where they run (`place`: host and pid, if the machine provides them).
   * @example for (const { id, roles, place } of await triarch.nodes()) console.log(id, roles, place?.host)
   */
  async nodes(): Promise<NodeInfo[]> {
    return (await this.#living()).map(nodeInfo)
  }

  async #living(): Promise<NodeRow[]> {
    await this.#open()
    const [now, nodes] = await Promise.all([this.#store.now(), this.#store.nodes()])
    return nodes.filter((node) => node.leaseUntil >= now && !this.#gone(node))
  }

  /**
   * Workflows by name, with their versions and the living nodes that run each: those that living nodes run, and those that this process
   * knows. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { workflows } = await triarch.workflows()
   * for (const { name, versions } of workflows) console.log(name, versions.length)
   */
  async workflows(options: NamedPage = {}): Promise<WorkflowPage> {
    const page = namedPage('workflows', options)
    return workflowPage(this.#store, this.#registry.workflows, await this.#living(), page)
  }

  /**
   * Agents by name, with their actions, the living nodes that run them, and the work that waits for them: those that living nodes have,
   * those that this process knows, and those for which work waits. Reads the history of the longest-waiting task of each. Throws
   * UNKNOWN_OPTION, INVALID_OPTION.
   * @example for (const { name, queue } of (await triarch.agents()).agents) console.log(name, queue.depth)
   */
  async agents(options: NamedPage = {}): Promise<AgentPage> {
    const page = namedPage('agents', options)
    return agentPage(this.#store, [...this.#registry.agents.values()], await this.#living(), page)
  }

  /**
   * How many processes the waiting and running work needs, for each agent and each version of a workflow: the input of an autoscaler.
   * Costs a few indexed reads, and for each agent with waiting work the history of its longest-waiting task. Throws INVALID_OPTION,
   * INVALID_DURATION, UNKNOWN_OPTION.
   * @example
   * const { agents } = await triarch.demand({ within: '10s' })
   * for (const { agent, has, wanted } of agents) console.log(agent, has.processes, wanted.processes)
   */
  async demand(options: DemandOptions = {}): Promise<Demand> {
    const within = demandTerms(options)
    return demandOf(this.#store, [...this.#registry.agents.values()], await this.#living(), within)
  }

  /**
   * Locks held by tasks, by name: the holder of each, since when, and the tasks that wait for it. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { locks } = await triarch.locks()
   * for (const { name, holder, waiting } of locks) console.log(name, holder, waiting)
   */
  async locks(options: NamedPage = {}): Promise<LockPage> {
    const page = namedPage('locks', options)
    await this.#open()
    return lockPage(this.#store, page)
  }

  /**
   * Lets this process lead under a name, as soon as no other process does: one process leads at a time. The function is called when this
   * process leads, and again each time it has lost the leadership and regained it; the process leads until the function ends. Resolves to
   * what the function returned; rejects with what it threw, unless `retry` is given; resolves to undefined if `signal` or `stop()` came
   * first. The process takes part once it has started, whatever its roles. Throws INVALID_NAME, INVALID_OPTION, UNKNOWN_OPTION,
   * NODE_STOPPED.
   * @example
   * const exporting = triarch.lead('exporter', async ({ signal, token }) => {
   *   while (!signal.aborted) await api.send(`page ${token}`, signal)
   * })
   */
  async lead<T>(
    name: string,
    run: (leadership: Leadership) => T | Promise<T>,
    options: LeadOptions = {},
  ): Promise<T | undefined> {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') throw this.#isStopping()
    const means = { failed: this.#failed, ended: () => this.#node?.stood() }
    const candidate = new Candidate(this.#environment, means, name, run, options)
    this.#candidates.add(candidate)
    this.#node?.stood()
    try {
      return (await candidate.result) as T | undefined
    } finally {
      this.#candidates.delete(candidate)
    }
  }

  /**
   * Leaderships by name, present and past: the leading node, and the token. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example for (const { name, node } of (await triarch.leaders()).leaders) console.log(name, node ?? 'nobody')
   */
  async leaders(options: NamedPage = {}): Promise<LeaderPage> {
    const page = namedPage('leaders', options)
    await this.#open()
    return leaderPage(this.#store, page)
  }

  /**
   * Endpoints as a prober (`createProber` of `@triarch/server`) has stored them, by name. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { endpoints } = await triarch.probes()
   * for (const { name, state, since } of endpoints) console.log(name, state, since)
   */
  async probes(options: ProbesOptions = {}): Promise<ProbePage> {
    return listProbes(async () => {
      await this.#open()
      return this.#store
    }, options)
  }

  /**
   * Invalidates cached answers on all nodes: that of an action for a key (as `cache.key` makes it; otherwise the input), all of an action
   * (also by its name), or all with a tag. Once this resolves, no answer requested before is given. Throws UNKNOWN_ACTION,
   * UNKNOWN_OPTION, INVALID_OPTION, STORE_*.
   * @example
   * await triarch.invalidate(charge, { id: 'o-1', amount: 10 })
   * await triarch.invalidate({ action: 'payments.charge', reason: 'the bank has corrected them' })
   * await triarch.invalidate({ tag: 'customer:7' })
   */
  async invalidate(what: Pick<Action, 'key'> | string | Invalidation, ...key: [key?: unknown]): Promise<void> {
    const stated = invalidationOf(what, key)
    const names = [invalidName(stated)]
    await this.#open()
    const { by, reason } = stated
    const name = stated.by === 'tag' ? stated.tag : stated.action
    const act = { action: 'cache.invalidate', subject: `cache:${by === 'tag' ? `tag ${name}` : name}`, reason }
    const audit = entryOf(this.#environment, act)
    await invalidate(this.#environment, this.#store, names, { audit })
    const outlet = this.#telemetry['cache:invalidated']
    if (outlet.open) outlet.tell({ ...this.#origin(), by, name })
  }

  /**
   * The audit, latest entry first, a page at a time: who did what, on what, when and why (docs/concepts/audit.md). Throws UNKNOWN_OPTION,
   * INVALID_OPTION.
   * @example
   * const { entries } = await triarch.audit({ subject: 'task:o-1' })
   * for (const { at, actor, action, reason } of entries) console.log(at, actor, action, reason)
   */
  audit(options: AuditOptions = {}): Promise<AuditPage> {
    return listAudit(this.#store, () => this.#open(), options)
  }

  /**
   * An API key by its name; whether it exists is only checked when it is used. `@triarch/server` defines what a key's rights permit.
   * Throws INVALID_NAME.
   * @example const { secret } = await triarch.key('billing').create({ rights: ['read'], expiresIn: '90d' })
   */
  key(name: string): KeyHandle {
    return new StoredKeyHandle(this.#connection, name, async () => this.#keyring?.refresh())
  }

  /**
   * API keys by name, a page at a time, including those that have ended; never their secrets. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { keys } = await triarch.keys()
   * for (const { name, status, rights, usedAt } of keys) console.log(name, status, rights, usedAt)
   */
  async keys(options: KeysOptions = {}): Promise<KeyPage> {
    return listKeys(this.#connection, options)
  }

  /**
   * Verifies API keys, for a server that controls access to this engine. Reads nothing before the first use; while it is used, one small
   * read of the store a second.
   * @example const key = await triarch.keyring().verify(secret)
   */
  keyring(): Keyring {
    const { environment, store, opened } = this.#connection
    this.#keyring ??= new StoredKeyring({ environment, store, opened, failed: this.#failed })
    return this.#keyring
  }

  /**
   * Runs `work`, and everything it starts, on behalf of an actor, who is named in the audit and in the histories of tasks wherever a call
   * names none itself. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const ada = { actor: 'ada@example.com', request: 'r-4711' }
   * await triarch.acting(ada, () => triarch.task('o-1').pause())
   */
  acting<T>(acting: Acting, work: () => T): T {
    return actingAs(acting, work)
  }

  /**
   * Records in the audit that an act was refused because its actor had no right to it; for a server that controls access to this engine.
   * Throws UNKNOWN_OPTION, INVALID_OPTION, STORE_*.
   * @example
   * const act = { action: 'breaker.open', subject: 'breaker:payments', actor: 'ada' }
   * await triarch.refused({ ...act, right: 'breakers' })
   */
  async refused(act: RefusedAct): Promise<void> {
    const { action, subject, actor, right } = checkRefused(act)
    await this.#open()
    const entry = entryOf(this.#environment, { action, subject, actor, outcome: 'refused', details: { right } })
    await this.#store.writeAudit([entry])
  }

  /** Whether the node's process is known to be gone, regardless of its lease. */
  #gone({ place }: NodeRow): boolean {
    return place !== null && (this.#machine.gone?.(place) ?? false)
  }

  /**
   * Connects agents in processes without a store; a transport (`@triarch/server`) passes their messages to it. They get attempts while
   * this node runs with the role `agent`.
   * @example
   * const agents = triarch.remoteAgents()
   * const { messages } = await agents.exchange({ session, seen: 7, wait: 5_000, messages: [] })
   */
  remoteAgents(): RemoteAgents {
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

  /**
   * Counts of what is in the store, and the counters of this process.
   * @example const { ready, work, stale } = await triarch.statistics()
   */
  async statistics(): Promise<Statistics>
  /**
   * Hourly counts of histories, if a supervisor has `statistics` on: how often tasks, steps and attempts ended in which way, and how long
   * they took. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { rows } = await triarch.statistics({ by: ['workflow', 'outcome'], kind: 'task', from: Date.now() - 86_400_000 })
   * for (const { workflow, outcome, count, p95 } of rows) console.log(workflow, outcome, count, p95)
   */
  async statistics(query: FiguresQuery): Promise<Figures>
  async statistics(query?: FiguresQuery): Promise<Statistics | Figures> {
    await this.#open()
    if (query !== undefined) return figures(this.#store, query)
    return { ...(await this.#store.counts()), ...this.#counters }
  }

  /**
   * Deletes all counts: the supervisor gradually counts anew from the histories that still exist. It resumes after a crash, and
   * `statistics` says how far it has come. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example await triarch.recount({ reason: 'tenants are told by another tag now' })
   */
  async recount(options: RecountOptions = {}): Promise<void> {
    const why = recountBy(options)
    await this.#open()
    const act = { action: 'statistics.recount', subject: 'statistics:all', ...why }
    await this.#store.recount({ audit: entryOf(this.#environment, act) })
  }

  /**
   * Rotates the secret that signs resume tokens and the tickets of connected agents; all nodes use the new one within a minute. What was
   * signed before is accepted for `overlap`; with 0, nodes that have not read the new secret yet accept it for another 30 s. Kept in the
   * audit. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION, STORE_BUSY.
   * @example await triarch.rotateSecret({ reason: 'every quarter', overlap: '90d' })
   */
  async rotateSecret(options: SecretRotateOptions): Promise<RotatedSecret> {
    return rotateSecret(this.#connection, this.#signing, options)
  }

  /**
   * The health of the engine: checks the store, the cluster and this process, and runs your own checks (`health.checks`). Costs about
   * twelve small reads and one commit, at most once within `health.cache`. The report contains the errors of checks; it does not reject
   * because of them. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { status, checks } = await triarch.health()
   * for (const { name, status, message } of checks) console.log(name, status, message)
   */
  async health(request: HealthRequest = {}): Promise<HealthReport> {
    checkOptions('health', request, ['checks'])
    const { checks } = request
    if (checks !== undefined && !Array.isArray(checks))
      throw new TriarchError('INVALID_OPTION', 'health: checks must be names')
    return this.#healthOf().report(checks)
  }

  /** Created on first use. */
  #healthOf(): Health<HealthReads> {
    this.#health ??= healthOf(this.#looked)
    return this.#health
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
      keys: () => this.#keyring?.state ?? null,
      agents: (cursor) => this.agents(cursor === undefined ? {} : { cursor }),
      breakers: (cursor) => this.breakers({ limit: MOST_BREAKERS, ...(cursor !== undefined && { cursor }) }),
    }
  }

  /** Notifies alert sinks; null: alerts are off. */
  #deliveryOf(): AlertDelivery | null {
    const { alerts } = this.#settings
    if (!alerts) return null
    const sinks = [logSink((alert) => this.#alert(alert)), ...alerts.sinks]
    const undelivered = (alert: RaisedAlert) => this.#alert(alert)
    const means = { environment: this.#environment, store: this.#store, failed: this.#failed, undelivered }
    this.#delivery ??= new AlertDelivery({ ...means, sinks, settings: alerts })
    return this.#delivery
  }

  /** A new one for each life of the node. */
  #watch(): AlertWatch | null {
    const { alerts } = this.#settings
    const delivery = this.#deliveryOf()
    if (!alerts || !delivery) return null
    return new AlertWatch({
      ...{ environment: this.#environment, store: this.#store, settings: alerts, delivery, failed: this.#failed },
      look: () => new HealthReads(this.#looked),
      health: () => this.#healthOf(),
    })
  }

  /**
   * Alerts by name, a page at a time: those that have not ended, including `pending` ones, and those that were ended by hand while their
   * condition still holds. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { alerts } = await triarch.alerts()
   * for (const { name, phase, message } of alerts) console.log(name, phase, message)
   */
  async alerts(options: AlertsOptions = {}): Promise<AlertPage> {
    return listAlerts(this.#connection, options)
  }

  /**
   * An alert by its name (`rule:subject`); whether it exists is only checked when it is used. Throws INVALID_OPTION.
   * @example await triarch.alert('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
   */
  alert(name: string): AlertHandle {
    return new StoredAlertHandle(this.#connection, name)
  }

  /**
   * Sends a test notification to one sink of this process (`alerts.sinks`, or `log`), or to all of them, at any hour, and returns the
   * result of each; none if this process watches nothing. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION (also if there is no
   * sink of that name).
   * @example
   * for (const { sink, ok, problem } of await triarch.testAlert()) console.log(sink, ok, problem)
   */
  async testAlert(options: AlertTestOptions = {}): Promise<AlertSinkTrial[]> {
    return testAlert(this.#connection, this.#deliveryOf(), options)
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
      watch: this.#settings.alerts && (() => this.#watch()),
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
    await this.#stopBudget.wait(this.#keyring?.close(), STORE_ANSWER_BUDGET_MS)
    await this.#stopBudget.wait(close(), STORE_ANSWER_BUDGET_MS)
    this.#log?.end()
  }

  async #create(draft: Draft, transaction: unknown, within?: EnclosedSubmissions): Promise<Omit<SubmitOutcome, 'key'>> {
    if (transaction !== undefined) {
      const task = written(draft)
      const [outcome] = within ? [await within.submit(task)] : await this.#store.submitIn(transaction, [task])
      return this.#told(draft, outcome as SubmitOutcome)
    }
    // An operation acts on many tasks, so its order is recorded in the audit.
    if (draft.task.workflow === OPERATION) return this.#order(draft)
    const launched = this.#node?.scheduler?.launch(draft)
    if (launched != null) return { created: (await launched).ok }
    const outcome = await this.#submissions.submit(written(draft))
    const { startAt } = draft.task
    if (startAt === null || draft.task.gates) this.#node?.wake()
    if (startAt !== null) this.#node?.scheduler?.alarm.set(startAt)
    return this.#told(draft, outcome)
  }

  async #order(draft: Draft): Promise<SubmitOutcome> {
    const { input } = draft.first[0] as Submission
    const { action, filter, confirm, reason, actor } = input as unknown as OperationOrder
    const subject = `operation:${draft.task.id}`
    const act = { action: 'operation.start', subject, reason, actor, details: { action, filter, confirm } }
    const [outcome] = await this.#store.submit([written(draft)], { audit: entryOf(this.#environment, act) })
    this.#node?.wake()
    return this.#told(draft, outcome as SubmitOutcome)
  }

  /**
   * Emits the telemetry of a submission. The scheduler emits that of tasks it launches itself, which may be over before the submission is
   * answered.
   */
  #told<O extends { created: boolean }>({ task }: Draft, outcome: O): O {
    const outlet = this.#telemetry['task:submitted']
    if (outcome.created && outlet.open) outlet.tell(submission(task, this.#node?.id ?? null))
    return outcome
  }

  /** Throws unless the existing task is the intended one. Returns false if it no longer exists, so it may be created again. */
  async #same(
    { task, first: [asked] }: Draft,
    { ifExists = 'match', first, again }: { ifExists?: SubmitOptions['ifExists']; first?: string; again: boolean },
  ): Promise<boolean> {
    if (ifExists === 'return') return true
    const [record] = first === undefined ? await this.#store.records(task.id, 0, 1) : [{ seq: 1, at: 0, events: first }]
    // Retention deleted the task meanwhile, or a failover lost it.
    if (again && !record && (await this.#store.task(task.id)) === null) return false
    if (record?.undecoded) throw record.undecoded
    const recorded = record?.seq === 1 ? (legibleOutline(record.events)?.[0] as Submission | undefined) : undefined
    if (!recorded)
      throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists, and what it was submitted with cannot be read`)
    const { workflow, input } = asked as Submission
    const same = recorded.workflow === workflow && isDeepStrictEqual(recorded.input, input)
    if (same && ifExists === 'match') return true
    throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists${same ? '' : ' with another workflow or input'}`)
  }
}
