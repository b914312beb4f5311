import { isDeepStrictEqual } from 'node:util'
import type { Workflow } from '../definition/definition.ts'
import type { EventSchemas, NoEvents } from '../definition/event.ts'
import { toHookOrders } from '../definition/hook.ts'
import { around, inOrder } from '../definition/middleware.ts'
import type { ScheduleOptions } from '../definition/schedule.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import { Patience, STORE_PATIENCE } from '../environment/patience.ts'
import { SteadyEnvironment } from '../environment/steady.ts'
import { SynchronisedEnvironment } from '../environment/synchronised.ts'
import { systemEnvironment } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { HookOrder, Submission } from '../kernel/task/order.ts'
import { type Counters, Node } from '../node/node.ts'
import { type Settings, settingsOf, type TriarchOptions } from '../node/options.ts'
import { Registry } from '../scheduler/registry.ts'
import { withCodecs } from '../store/codec/coded.ts'
import { withDeadline } from '../store/deadline.ts'
import { withFormat } from '../store/formatted.ts'
import { type Draft, written } from '../store/origin.ts'
import type { NodeRow, StateStore, StoreCounts, SubmitOutcome } from '../store/port.ts'
import { legibleEvents } from '../store/record.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkMetadata } from '../value/metadata.ts'
import { checkLabel, checkTaskId } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { conditionsOf } from '../view/condition.ts'
import { explain } from '../view/explain.ts'
import { type ListOptions, listedBy } from '../view/query.ts'
import type { Explanation } from '../view/reason.ts'
import { fitsTrouble } from '../view/trouble.ts'
import { Attendance } from './attendance.ts'
import { Connection } from './connection.ts'
import { TaskHandle } from './handle.ts'
import { codedAlert, type EngineEvents, errorListener, Listeners } from './listeners.ts'
import { Notices } from './notices.ts'
import { readPage, type TaskPage } from './page.ts'
import { type ResumeOptions, resumeStep } from './resume.ts'
import { ScheduleHandle, type SchedulePage, scheduleInfo } from './schedule.ts'
import { lockHeld, newTask, type SubmitOptions } from './submission.ts'

/** A node asks the store's clock again after this long, if nothing else did (ms). */
const OLDEST_CLOCK = 30_000
/** Of one look at the schedules. */
const MOST_SCHEDULES = 1_000

/**
 * One Triarch process: submits and watches tasks; once started, plays its roles.
 * @example
 * const shop = { store: sqlite('shop.db'), workflows: [fulfil], agents: [payments] }
 * await using triarch = new Triarch(shop)
 * await triarch.start()
 * const task = await triarch.submit(fulfil, { id: 'o-1', amount: 10 }, { id: 'o-1' })
 */
export class Triarch implements AsyncDisposable {
  /** Its wall clock is the store's. */
  readonly #environment: SynchronisedEnvironment
  /** This machine's. */
  readonly #machine: Environment
  readonly #settings: Settings
  readonly #registry: Registry
  readonly #hooks: HookOrder[]
  readonly #store: StateStore
  readonly #connection: Connection
  readonly #counters: Counters = { stale: 0, fenced: 0 }
  readonly #listeners: Listeners
  readonly #notices: Notices | null
  readonly #attendance: Attendance
  readonly #failed: (error: unknown) => void
  readonly #patience: Patience
  #opened: Promise<void> | null = null
  #ready = false
  #node: Node | null = null
  #phase: 'new' | 'started' | 'stopping' | 'stopped' = 'new'
  #started: Promise<void> | null = null
  #stopped: Promise<void> | null = null

  constructor(options: TriarchOptions) {
    this.#settings = settingsOf(options)
    const given = options.environment ?? systemEnvironment()
    this.#failed = errorListener(options.onError, given, () => this.#phase === 'stopped')
    this.#listeners = new Listeners(this.#failed)
    const environment = options.environment ? new SteadyEnvironment(given, this.#failed) : given
    this.#notices = this.#settings.notices ? new Notices(environment) : null
    this.#environment = new SynchronisedEnvironment(environment)
    const seen = { explain: (id: string) => this.explain(id), alert: (raised: RaisedAlert) => this.#alert(raised) }
    this.#attendance = new Attendance({ environment: this.#environment, failed: this.#failed, ...seen })
    this.#registry = new Registry(options.workflows ?? [], options.agents ?? [], options.middleware)
    this.#hooks = toHookOrders('Triarch', options.hooks)
    this.#machine = environment
    this.#patience = new Patience(environment, this.#failed)
    const store = withFormat(withCodecs(options.store(environment), this.#settings.codecs, this.#failed))
    this.#store = withDeadline(store, environment, () => this.#node?.doubt())
    this.#connection = new Connection(this.#store, this.#environment, this.#settings, this.#registry)
    this.#connection.opened = () => this.#open()
    this.#connection.isLocal = (id) => this.#node?.scheduler?.has(id) ?? false
    this.#connection.posted = () => this.#node?.wake()
  }

  /**
   * Opens the store and sets up its tables; start() and submit() do it by themselves. Throws STORE_*.
   * @example await triarch.open()
   */
  open(): Promise<void> {
    return this.#open()
  }

  /**
   * Takes up this process's roles. Called again, it is the same start; one that failed can be tried again. Throws STORE_*;
   * NODE_STOPPED once stop() was called.
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
   * Stops: takes no new work, lets running steps finish for `grace`, hands everything back. With a grace of 0, also when
   * called again, it waits for nothing; other nodes then recover what was cut off. Nothing is lost either way. It resolves
   * even if the store does not answer any more; what the store refused goes to `onError`.
   * @example await triarch.stop({ grace: '30s' })
   */
  stop(options: { grace?: Duration } = {}): Promise<void> {
    const grace = milliseconds(options.grace ?? this.#settings.grace, 'grace')
    if (this.#stopped && grace === 0) this.#patience.end()
    this.#stopped ??= this.#stop(grace)
    return this.#stopped
  }

  /** Stops, as stop() does: `await using triarch = new Triarch(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * Submits a task; once this resolves, it is never lost. The same id submitted twice is the same task (`ifExists`).
   * A plan is made here and now, unless the task starts later. Throws INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE,
   * TASK_EXISTS, LOCK_HELD, PLAN_*, STORE_*.
   * @example const task = await triarch.submit(fulfil, order, { id: 'o-1', completeBy: '1h' })
   */
  async submit<I, O, E extends EventSchemas>(
    workflow: Workflow<I, O, E>,
    input: NoInfer<I>,
    options: SubmitOptions = {},
  ): Promise<TaskHandle<O, E>> {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') throw this.#isStopping()
    if (options.via !== undefined && !this.#ready) {
      throw new TriarchError('STORE_VIA_INVALID', 'open() the store before you begin a transaction on it')
    }
    await this.#open()
    if (this.#environment.old) await this.#synchronise()
    const { middleware = [] } = workflow?.definition ?? {}
    let id: string | undefined
    if (this.#registry.middleware.length + middleware.length === 0) {
      id = await this.#submit(workflow as Workflow, input, options)
      return new TaskHandle<O, E>(this.#connection, id, workflow as Workflow)
    }
    const chain = inOrder(this.#registry.middleware, middleware)
    const { tags = {}, via } = options
    const metadata = checkMetadata('submit', options.metadata ?? {})
    const call = { workflow: workflow?.name, input, id: options.id, tags, metadata, via }
    await around(chain, 'submit', call, async (changed) => {
      const some = options.metadata !== undefined || Object.keys(metadata).length > 0
      id = await this.#submit(workflow as Workflow, changed, some ? { ...options, metadata } : options)
      return id
    })
    if (id === undefined) throw new TriarchError('MIDDLEWARE_MISUSE', 'a middleware kept the task from being submitted')
    return new TaskHandle<O, E>(this.#connection, id, workflow as Workflow)
  }

  async #submit(workflow: Workflow, input: unknown, options: SubmitOptions, again = true): Promise<string> {
    const { limits } = this.#settings
    const id = () => this.#environment.id()
    const given = { now: this.#environment.now(), limits, id, planning: this.#registry, hooks: this.#hooks }
    const draft = await newTask(workflow, input, options, given)
    const { task } = draft
    const { created, heldBy, first } = await this.#create(draft, options.via)
    if (heldBy !== undefined) throw lockHeld(task, heldBy)
    if (created && task.status !== 'scheduled') this.#attendance.wonder(task.id, `${workflow.name}@${workflow.version}`)
    const known = { ...options, again, ...(first !== undefined && { first }) }
    return created || (await this.#same(draft, known)) ? task.id : this.#submit(workflow, input, options, false)
  }

  /**
   * A task by its id; whether it exists shows at the first use. `workflow`: what it runs, for the types and its `events`.
   * @example const { receipt } = await triarch.task('o-1', fulfil).result()
   */
  task<O = unknown, E extends EventSchemas = NoEvents>(
    id: string,
    workflow?: Workflow<unknown, O, E>,
  ): TaskHandle<O, E> {
    if (workflow !== undefined) checkWorkflow(workflow)
    return new TaskHandle<O, E>(this.#connection, checkTaskId(id), workflow as Workflow | undefined)
  }

  /**
   * Gives a step an event with this value, by the token it handed out: it runs again as soon as it is suspended. `event`
   * names it; `resume`. `optional`: a task that has stopped is no error. Throws INVALID_TOKEN, TASK_STOPPED, UNKNOWN_TASK,
   * UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await triarch.resume(token, { paid: true })
   */
  async resume(token: string, value: unknown = null, options: ResumeOptions = {}): Promise<void> {
    await resumeStep(this.#connection, token, value, options)
  }

  /**
   * Starts a task of a workflow again and again: registers the schedule of this name, or changes it; the same definition
   * again changes nothing. Without options, the schedule that there is. Throws UNKNOWN_OPTION, INVALID_*, PAYLOAD_TOO_LARGE,
   * STORE_*.
   * @example
   * const when = { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }
   * await triarch.schedule('nightly', { workflow: fulfil, input: order, ...when })
   */
  async schedule<I, O>(name: string, options?: ScheduleOptions<I, O>): Promise<ScheduleHandle> {
    const handle = new ScheduleHandle(this.#connection, name)
    if (options !== undefined) await handle.register(options as unknown as ScheduleOptions)
    return handle
  }

  /**
   * Schedules by name, at most `limit` (1 to 1,000; 1,000) of them: those that come after the name `after`. Where there are
   * more, the page's `next` says after which name they come. Throws INVALID_OPTION.
   * @example for (const { name, next } of await triarch.schedules()) console.log(name, next)
   */
  async schedules(options: { after?: string; limit?: number } = {}): Promise<SchedulePage> {
    checkOptions('schedules', options, ['after', 'limit'])
    const { after = '', limit = MOST_SCHEDULES } = options
    checkInteger('schedules: limit', limit, 1, MOST_SCHEDULES)
    if (after !== '') checkLabel('a schedule', after)
    await this.#open()
    const rows = await this.#store.schedules({ after, limit: limit + 1 })
    const page: SchedulePage = rows.slice(0, limit).map(scheduleInfo)
    const last = page.at(-1)
    if (rows.length > limit && last) page.next = last.name
    return page
  }

  /**
   * Why a task is not moving: what it waits for, in words and as data. Throws UNKNOWN_TASK.
   * @example const { text, reasons } = await triarch.explain('o-1')
   */
  async explain(id: string): Promise<Explanation> {
    await this.#open()
    return explain(this.#store, checkTaskId(id), (node) => this.#gone(node))
  }

  /**
   * Tasks by a filter or by options, newest first, a page at a time. Throws INVALID_FILTER. Where too many others lie between them,
   * the page says that it is `truncated`, and `next` goes on.
   * @example
   * const { tasks, next } = await triarch.list({ filter: 'age:>2h status:paused tag.customer:c-7' })
   * const all = await triarch.list({ status: 'paused', tags: { customer: 'c-7' } })
   */
  async list(options: ListOptions = {}): Promise<TaskPage> {
    const { filter, page } = listedBy(options)
    await this.#open()
    const { where, rest } = conditionsOf(filter, this.#environment.now())
    const query = { where, ...page, order: filter.order ?? 'newest' }
    return readPage(this.#connection, query, rest.length > 0 ? (row) => fitsTrouble(row, rest) : undefined)
  }

  /**
   * The nodes that live, and where (`place`: host and pid, where the machine tells).
   * @example for (const { id, roles, place } of await triarch.nodes()) console.log(id, roles, place?.host)
   */
  async nodes(): Promise<NodeRow[]> {
    await this.#open()
    const [now, nodes] = await Promise.all([this.#store.now(), this.#store.nodes()])
    return nodes.filter((node) => node.leaseUntil >= now && !this.#gone(node))
  }

  /** Its process is known to be no more, whatever its lease says. */
  #gone({ place }: NodeRow): boolean {
    return place !== null && (this.#machine.gone?.(place) ?? false)
  }

  /**
   * How much is in the store, and what this process counted.
   * @example const { ready, work, stale } = await triarch.statistics()
   */
  async statistics(): Promise<StoreCounts & Counters> {
    await this.#open()
    return { ...(await this.#store.counts()), ...this.#counters }
  }

  /**
   * Calls back until the function returned is called. What a listener throws or rejects with goes to `onError`. Alerts that
   * nobody listens to are said on stderr, unless `notices` is false. Throws INVALID_OPTION.
   * @example const off = triarch.on('alert', ({ code, task, message }) => console.error(code, task, message))
   */
  on<E extends keyof EngineEvents>(event: E, listener: EngineEvents[E]): () => void {
    return this.#listeners.add(event, listener)
  }

  #open(): Promise<void> {
    // Connections and threads live on: they must not keep what the first caller happens to hold.
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
      this.#opened = null // asked again, it may answer
      throw error
    }
  }

  #synchronise(): Promise<void> {
    return this.#environment.synchronise(() => this.#store.now())
  }

  async #join(): Promise<void> {
    const node = new Node({
      environment: this.#environment,
      store: this.#store,
      registry: this.#registry,
      machine: this.#machine,
      // Looks set it as well.
      renewed: async (told) => {
        if (told) this.#environment.heard(told.asked, told.now, told.answered)
        else if (this.#environment.age > OLDEST_CLOCK) await this.#synchronise()
      },
      synchronise: (ask) => this.#environment.synchronise(ask),
      settings: this.#settings,
      counters: this.#counters,
      alert: (alert) => this.#alert(alert),
      moved: (state) => this.#connection.moved(state),
      swept: (report) => this.#listeners.tell('recovered', report),
      failed: this.#failed,
      wonder: (task, cause) => this.#attendance.wonder(task, cause),
      fenced: () => void this.#rejoin(),
    })
    this.#node = node
    await CallContext.none.run(() => node.start())
  }

  #alert(raised: RaisedAlert): void {
    const alert = codedAlert(raised)
    if (this.#listeners.has('alert')) this.#listeners.tell('alert', alert)
    else this.#notices?.tell(alert)
  }

  /** A fenced node lives on under a new name. */
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
    this.#attendance.close()
    const opened = this.#opened?.catch(() => undefined)
    // What opens late is closed late.
    const close = async () => {
      await opened
      if (this.#opened !== null) await this.#store.close()
    }
    await this.#patience.wait(opened, STORE_PATIENCE)
    await this.#node?.stop(grace, this.#patience)
    this.#phase = 'stopped'
    this.#node = null
    await this.#patience.wait(close(), STORE_PATIENCE)
  }

  async #create(draft: Draft, via: unknown): Promise<Omit<SubmitOutcome, 'key'>> {
    if (via !== undefined) return this.#store.submitVia(via, written(draft))
    const launched = this.#node?.scheduler?.launch(draft)
    if (launched != null) return { created: (await launched).ok }
    const [outcome] = await this.#store.submit([written(draft)])
    const { startAt } = draft.task
    if (startAt === null) this.#node?.wake()
    else this.#node?.scheduler?.alarm.set(startAt)
    return outcome ?? { created: false }
  }

  /** Throws unless the existing task is the one that was meant. False, if it may be made again: it is not there any more. */
  async #same(
    { task, first: [asked] }: Draft,
    { ifExists = 'match', first, again }: { ifExists?: SubmitOptions['ifExists']; first?: string; again: boolean },
  ): Promise<boolean> {
    if (ifExists === 'return') return true
    const [record] = first === undefined ? await this.#store.records(task.id, 0, 1) : [{ seq: 1, at: 0, events: first }]
    // Retention dropped it since, or a failover lost it.
    if (again && !record && (await this.#store.task(task.id)) === null) return false
    if (record?.undecoded) throw record.undecoded
    const recorded = record?.seq === 1 ? (legibleEvents(record.events)?.[0] as Submission | undefined) : undefined
    if (!recorded)
      throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists, and what it was submitted with cannot be read`)
    const { workflow, input } = asked as Submission
    const same = recorded.workflow === workflow && isDeepStrictEqual(recorded.input, input)
    if (same && ifExists === 'match') return true
    throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists${same ? '' : ' with another workflow or input'}`)
  }
}
