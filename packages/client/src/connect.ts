import type {
  Action,
  AgentPage,
  AlertPage,
  AlertsOptions,
  AuditOptions,
  AuditPage,
  BreakerPage,
  BreakersOptions,
  CountsChange,
  Demand,
  DemandOptions,
  Figures,
  FiguresQuery,
  HealthReport,
  HealthRequest,
  ImportOptions,
  Invalidation,
  ListChange,
  ListOptions,
  LockPage,
  NamedPage,
  NodeInfo,
  NoSignals,
  OperationOrder,
  OperationReport,
  RateLimitPage,
  RateLimitsOptions,
  ResumeOptions,
  SchedulePage,
  SchedulesOptions,
  Setting,
  SettingPage,
  SettingsOptions,
  SignalSchemas,
  Statistics,
  SubmitResult,
  TaskCount,
  TaskEntry,
  TaskExport,
  TaskPage,
  WatchOptions,
  WorkflowPage,
} from 'triarch'
import type {
  AlertHandle,
  BreakerHandle,
  RateLimitHandle,
  ScheduleHandle,
  SettingHandle,
  TaskHandle,
  TaskOptions,
  TriarchClient,
  WorkflowRef,
} from 'triarch/contract'
import { invalidationOf, TriarchError } from 'triarch/contract'
import { alertPage, RemoteAlert, testAlert } from './alert.ts'
import { auditPage, auditPath } from './audit.ts'
import { breakerPage, RemoteBreaker } from './breaker.ts'
import { countsChange, listChange } from './change.ts'
import { demand, demandPath } from './demand.ts'
import type { Environment } from './environment.ts'
import { Exchange } from './exchange.ts'
import { keyPage, RemoteKey } from './key.ts'
import { type ConnectOptions, known, settingsOf } from './options.ts'
import { probePage, probesPath } from './probe.ts'
import { RemoteRateLimit, rateLimitPage } from './rate-limit.ts'
import { RemoteSchedule } from './schedule.ts'
import { rotateSecret } from './secret.ts'
import { RemoteSetting, settingPage } from './setting.ts'
import { array, object } from './shape.ts'
import { figures, figuresPath, recount } from './statistics.ts'
import { followed } from './stream.ts'
import { entryOf, importTask, isNewTask, submitAll } from './submission.ts'
import { RemoteTask } from './task.ts'
import { resumeStep } from './token.ts'
import { encode, instant, query, segment } from './value.ts'
import {
  agentPage,
  healthReport,
  leaderPage,
  lockPage,
  nodeInfos,
  scheduleInfo,
  taskPage,
  workflowPage,
} from './view.ts'

/**
 * Tasks of a server, by the calls of `Triarch`. It opens no connection before the first call, and holds nothing that must be closed.
 * `url`: where the server is mounted, without `/api/v1`. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION.
 * @example
 * const tasks = connect('https://tasks.example.com', { token: 's3cret' })
 * const task = await tasks.submit(fulfil, { id: 'o-1', amount: 10 }, { id: 'o-1' })
 * const { receipt } = await task.result({ timeout: '30s' })
 */
export function connect(url: string, options: ConnectOptions = {}): TriarchClient {
  return connected(url, options)
}

/** The same, in surroundings of a test's own. */
export function connected(url: string, options: ConnectOptions, environment?: Environment): TriarchClient {
  return new HttpClient(new Exchange(settingsOf(url, options, environment)))
}

class HttpClient implements TriarchClient {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  async submit<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options: TaskOptions = {},
  ): Promise<TaskHandle<O, E>> {
    checkRef(workflow)
    const entry = entryOf(input, options, () => this.#exchange.settings.environment.id())
    const body = { workflow: workflow.name, version: workflow.version, ...entry }
    const isNew = await this.#exchange.ask({
      ...{ method: 'POST', path: '/tasks', body: encode(`input of ${workflow.name}`, body) },
      // By its id it is the same task, unless none of this id may be there.
      once: entry.ifExists === 'reject',
      read: isNewTask,
    })
    return new RemoteTask<O, E>(this.#exchange, entry.id, { isNew })
  }

  async submitMany<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
  ): Promise<SubmitResult<O, E>[]> {
    checkRef(workflow)
    const results = await submitAll(this.#exchange, workflow, entries)
    return results.map((result) => {
      if (result.status === 'rejected') return result
      const { id, isNew } = result.value
      return { status: 'fulfilled', value: new RemoteTask<O, E>(this.#exchange, id, { isNew }) }
    })
  }

  task<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E> {
    if (workflow !== undefined) checkRef(workflow)
    return new RemoteTask<O, E>(this.#exchange, id)
  }

  async import(exported: TaskExport, options: ImportOptions = {}): Promise<TaskHandle> {
    const { id, isNew } = await importTask(this.#exchange, exported, options)
    return new RemoteTask(this.#exchange, id, { isNew })
  }

  async resume(token: string, value: unknown = null, options: ResumeOptions = {}): Promise<void> {
    await resumeStep(this.#exchange, token, value, options)
  }

  schedule(name: string): ScheduleHandle {
    return new RemoteSchedule(this.#exchange, name)
  }

  async schedules(options: SchedulesOptions = {}): Promise<SchedulePage> {
    const { cursor, limit, ...rest } = options
    known('schedules', rest)
    return this.#get(`/schedules${query({ cursor, limit })}`, (body) => {
      const page = object(body)
      return { ...page, schedules: array(page.schedules, scheduleInfo) }
    })
  }

  async list(options: ListOptions = {}): Promise<TaskPage> {
    const { status, outcome, submittedAfter, submittedBefore, quarantined, ...more } = options
    const { filter, workflow, version, parent, tags, cursor, limit, order, ...rest } = more
    known('list', rest)
    const parameters = {
      ...{ filter, status, outcome, workflow, version, parent, quarantined, tags, cursor, limit, order },
      ...(submittedAfter !== undefined && { submittedAfter: instant('list: submittedAfter', submittedAfter) }),
      ...(submittedBefore !== undefined && { submittedBefore: instant('list: submittedBefore', submittedBefore) }),
    }
    return this.#get(`/tasks${query(parameters)}`, taskPage)
  }

  alert(name: string): AlertHandle {
    return new RemoteAlert(this.#exchange, name)
  }

  async alerts({ ended, ...options }: AlertsOptions = {}): Promise<AlertPage> {
    return this.#get(`/alerts${named('alerts', options, { ended })}`, alertPage)
  }

  breaker(name: string): BreakerHandle {
    return new RemoteBreaker(this.#exchange, name)
  }

  async breakers(options: BreakersOptions = {}): Promise<BreakerPage> {
    return this.#get(`/breakers${named('breakers', options)}`, breakerPage)
  }

  rateLimit(name: string): RateLimitHandle {
    return new RemoteRateLimit(this.#exchange, name)
  }

  async rateLimits(options: RateLimitsOptions = {}): Promise<RateLimitPage> {
    return this.#get(`/rate-limits${named('rateLimits', options)}`, rateLimitPage)
  }

  setting<T = unknown>(of: string | Setting<T>): SettingHandle<T> {
    return new RemoteSetting<T>(this.#exchange, of)
  }

  async settings(options: SettingsOptions = {}): Promise<SettingPage> {
    return this.#get(`/settings${named('settings', options)}`, settingPage)
  }

  async audit(options: AuditOptions = {}): Promise<AuditPage> {
    return this.#get(auditPath(options), auditPage)
  }

  async count(options: { filter?: string; most?: number } = {}): Promise<TaskCount> {
    const { filter, most, ...rest } = options
    known('count', rest)
    return this.#get(`/stats/tasks${query({ filter, most })}`, (body) => {
      const { count, truncated } = object(body)
      if (typeof count !== 'number') throw new TypeError('no count')
      return { count, ...(truncated === true && { truncated }) }
    })
  }

  async operate(order: OperationOrder, options: { id?: string } = {}): Promise<TaskHandle<OperationReport>> {
    const { filter, action, options: taken, confirm, reason, actor, ...unknown } = order
    known('operate', unknown)
    const { id = this.#exchange.settings.environment.id(), ...rest } = options
    known('operate', rest)
    segment('the id of an operation', id)
    const isNew = await this.#exchange.ask({
      ...{ method: 'POST', path: '/operations' },
      body: encode('the order', { filter, action, options: taken, confirm, reason, actor, id }),
      read(answer, _, uncertain) {
        const { created } = object(answer)
        return created === true || (uncertain ? undefined : false)
      },
    })
    return new RemoteTask<OperationReport>(this.#exchange, id, { isNew })
  }

  async *watch(options: WatchOptions = {}): AsyncIterableIterator<ListChange> {
    const { filter, limit, quiet, signal, ...rest } = options
    known('watch', rest)
    checkSignal(signal)
    const path = `/tasks/events${query({ filter, limit })}`
    for await (const told of followed(this.#exchange, path, { quiet, signal })) {
      const change = listChange(told)
      if (change) yield change
    }
  }

  async *watchStatistics(options: Pick<WatchOptions, 'quiet' | 'signal'> = {}): AsyncIterableIterator<CountsChange> {
    const { quiet, signal, ...rest } = options
    known('watchStatistics', rest)
    checkSignal(signal)
    for await (const told of followed(this.#exchange, '/stats/events', { quiet, signal })) {
      const change = countsChange(told)
      if (change) yield change
    }
  }

  async workflows(options: NamedPage = {}): Promise<WorkflowPage> {
    return this.#get(`/workflows${named('workflows', options)}`, workflowPage)
  }

  async agents(options: NamedPage = {}): Promise<AgentPage> {
    return this.#get(`/agents${named('agents', options)}`, agentPage)
  }

  async locks(options: NamedPage = {}): Promise<LockPage> {
    return this.#get(`/locks${named('locks', options)}`, lockPage)
  }

  async demand(options: DemandOptions = {}): Promise<Demand> {
    return this.#get(demandPath(options), demand)
  }

  async invalidate(what: Pick<Action, 'key'> | string | Invalidation, ...key: [key?: unknown]): Promise<void> {
    const stated = invalidationOf(what, key)
    const { reason } = stated
    const body = {
      ...(stated.by === 'tag' ? { tag: stated.tag } : { action: stated.action }),
      ...(stated.by === 'key' && { key: stated.key[0] ?? null }),
      ...(reason !== undefined && { reason }),
    }
    const read = () => undefined
    await this.#exchange.ask({ method: 'POST', path: '/cache/invalidate', body: encode('key', body), read })
  }

  nodes(): Promise<NodeInfo[]> {
    return this.#get('/nodes', nodeInfos)
  }

  async health(request: HealthRequest = {}): Promise<HealthReport> {
    const { checks, ...rest } = request
    known('health', rest)
    if (checks !== undefined && !Array.isArray(checks))
      throw new TriarchError('INVALID_OPTION', 'health: checks must be names')
    // What is not well is answered with 503, and that is the answer.
    return this.#exchange.ask({
      ...{ method: 'GET', path: `/health${query({ check: checks })}`, answers: [503] },
      read: healthReport,
    })
  }

  statistics(): Promise<Statistics>
  statistics(query: FiguresQuery): Promise<Figures>
  async statistics(query?: FiguresQuery): Promise<Statistics | Figures> {
    return query
      ? this.#get(figuresPath(query), figures)
      : this.#get('/stats', (body) => object(body) as unknown as Statistics)
  }

  leaders: TriarchClient['leaders'] = async (options = {}) =>
    this.#get(`/leaders${named('leaders', options)}`, leaderPage)
  key: TriarchClient['key'] = (name) => new RemoteKey(this.#exchange, name)
  keys: TriarchClient['keys'] = async (options = {}) => this.#get(`/keys${named('keys', options)}`, keyPage)
  probes: TriarchClient['probes'] = async (options = {}) => this.#get(probesPath(options), probePage)
  recount: TriarchClient['recount'] = async (options = {}) => recount(this.#exchange, options)
  rotateSecret: TriarchClient['rotateSecret'] = async (options) => rotateSecret(this.#exchange, options)
  testAlert: TriarchClient['testAlert'] = async (options = {}) => testAlert(this.#exchange, options)

  #get<T>(path: string, read: (body: unknown) => T): Promise<T> {
    return this.#exchange.ask({ method: 'GET', path, read })
  }
}

/** The query of a page by name. Throws UNKNOWN_OPTION. */
function named(what: string, { cursor, limit, ...rest }: NamedPage, more: Parameters<typeof query>[0] = {}): string {
  known(what, rest)
  return query({ ...more, cursor, limit })
}

function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return
  throw new TriarchError('INVALID_OPTION', 'watch: signal must be an AbortSignal')
}

function checkRef(workflow: WorkflowRef<unknown, unknown, SignalSchemas>): void {
  if (typeof workflow?.name === 'string') return
  throw new TriarchError('UNKNOWN_WORKFLOW', 'this is not a workflow: give what workflow() or workflowRef() returned')
}
