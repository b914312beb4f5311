// What users define, and what they are given to define it with. These types speak of each other: an action of its agent, an agent
// of workflows, a workflow of its task, a task of actions. So they stand together, and on none of the functions that make them.
import type { BatchPolicy } from '../kernel/batch/batch.ts'
import type { Duration } from '../value/duration.ts'
import type { Given, Jsonified, WithoutInput } from '../value/jsonified.ts'
import type { InferOutput, StandardSchema } from '../value/schema.ts'
import type { AgentPolicy, WorkflowPolicy } from './agent-policy.ts'
import type { BatchOptions, BatchResult, Items, PageRequest } from './batch.ts'
import type { CircuitBreakerOptions } from './breaker.ts'
import type { CacheOptions } from './cache.ts'
import type {
  CheckedSignalOptions,
  ChildOptions,
  LocalStepOptions,
  Lock,
  LockOptions,
  PlannedStepOptions,
  StepOptions,
  TransactionOptions,
  UndoOptions,
  WaitForSignalOptions,
} from './call.ts'
import type { ConcurrencyOptions } from './concurrency.ts'
import type { ExclusiveOptions } from './exclusive.ts'
import type { FairnessOptions } from './fairness.ts'
import type { HookState, TaskChange } from './hook.ts'
import type { LogWriter } from './log.ts'
import type { Middleware } from './middleware.ts'
import type { PolicyOptions, RescueOption } from './policy.ts'
import type { PoolOptions } from './queue.ts'
import type { RateLimitOptions } from './rate.ts'
import type { Planned, Resolved, Templated } from './reference.ts'
import type { RetentionOption } from './retention.ts'
import type { SettingPolicy } from './setting.ts'
import type { NoSignals, SignalSchemas } from './signal.ts'
import type { PresentedStep, StepContext, StepSignal, Verification } from './step.ts'
import type { ThreadInput, ThreadModule, ThreadOutput } from './thread.ts'

/**
 * One kind of step. `I` is what `run` is given, `O` what it returns (before the output schema).
 * @example
 * const definition = {
 *   attemptWithin: '5s',
 *   run: (order: { id: string; amount: number }, step) => api.charge(order, step.idempotencyKey),
 *   verify: async () => ({ done: false }),
 * } satisfies ActionDefinition<{ id: string; amount: number }, { id: string }>
 */
export interface ActionDefinition<I = unknown, O = unknown> extends PolicyOptions {
  /** Says what a step is about, for people. Is given nothing secret. */
  present?(step: PresentedStep): string
  /** What may help when a step fails, for people. */
  hints?: string | readonly string[] | ((step: PresentedStep) => string | readonly string[])
  /** Around the attempts of its steps, and around its planning. */
  middleware?: readonly Middleware[]
  /** Is planned whenever one of these is, with the same input, and beside it unless it refers to what that gives. */
  subscribe?: readonly Pick<Action, 'key' | 'definition'>[]
  /** Most attempts of it at a time in one process, within its agent's: 1 to 100,000; the agent's. Or in all processes together. */
  concurrency?: number | ConcurrencyOptions
  /** How many attempts of it may begin in a time, over all nodes together, within its agent's `rateLimit`. */
  rateLimit?: RateLimitOptions
  /**
   * For how long its answers are given again, without a call. For actions that only read: with `undo`, `verify`, `plan`,
   * `finalize` or `semantics: 'at-most-once'` it is refused.
   */
  cache?: CacheOptions<I>
  /** What becomes of its steps while the circuit breaker of its agent is open; as the agent says. Excludes `plan` and `finalize` with a fallback. */
  whenOpen?: WhenOpen
  /** Checks the input where the step is requested, and again where it runs; `run` is given what it makes of it. */
  input?: StandardSchema
  /** Checks what `run` (or `verify`) gives before it is recorded. */
  output?: StandardSchema
  /** Does the work. May run more than once: see `idempotencyKey`. Missing only where `plan` is given. */
  run?(input: I, step: StepContext, received?: StepSignal): O | Promise<O>
  /** Plans other actions, and (by `plan.self`) this one's own `run`, when the action is planned. Answers at once. */
  plan?(input: unknown, plan: ActionPlanContext<unknown, unknown>): unknown
  /**
   * In a plan: runs once all its steps have run, in the order of planning. May run more than once. `tx`: the transaction, in
   * workflows that finalize in one.
   */
  finalize?(done: { input: I; output: unknown }, step: StepContext, tx: unknown): unknown
  /** Takes back what `run` did. May run more than once. */
  undo?(done: { input: I; output: unknown }, step: StepContext): unknown
  /** Asks the service, by the idempotency key, whether a lost attempt took effect. Must not change anything. */
  verify?(input: I, step: StepContext): Verification<O> | Promise<Verification<O>>
  /** @internal Its code is in a module that threads run. */
  readonly thread?: { readonly module: string; readonly undo: boolean; readonly verify: boolean }
  /** @internal Of what agent.batch() defined: `run` gives the pages of its source. */
  readonly batch?: { readonly policy: BatchPolicy; readonly undo: boolean }
}

/**
 * A defined action. `I` is what a workflow gives, `O` what it gets back (as JSON has it).
 * @example
 * const bill = (action: Action<{ id: string; amount: number }>, task: TaskContext) =>
 *   task.run(action, { id: 'o-1', amount: 10 })
 */
export interface Action<I = unknown, O = unknown> {
  /** The agent that it belongs to. */
  readonly agent: Agent
  /** Its name within the agent. */
  readonly name: string
  /** `agent.action`. */
  readonly key: string
  /** As it was given to `agent.action`. */
  readonly definition: ActionDefinition
  /** Plans other actions. */
  readonly plans: boolean
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O }
}

/**
 * What becomes of a step of an action while its agent's circuit breaker is open: it waits (`park`), fails at once with CIRCUIT_OPEN (`fail`), or
 * is done by another action, of another agent, which takes the same and gives the same. That action then does all of it, also its undo.
 * @example
 * const last = agent('archive').action('last', { run: (currency: string) => ({ currency, rate: 1 }) })
 * const whenOpen: WhenOpen<string, { currency: string; rate: number }> = { fallback: last }
 */
export type WhenOpen<I = unknown, O = unknown> = 'park' | 'fail' | { readonly fallback: Action<I, O> }

/**
 * What `verify` answers. `run` alone decides the type `R`: inferred from a `verify` that says `{ done }`, it would be `R | undefined`
 * wherever `exactOptionalPropertyTypes` is off, which is the default. A `run` that never returns leaves it open.
 * @example const answer: Verified<{ id: string }> = { done: true, output: { id: 'c-1' } }
 */
export type Verified<R> = Verification<[R] extends [never] ? unknown : NoInfer<R>>

/** An action's definition as it is written: its schemas, or else the annotations of `run`, give the types. */
export type TypedActionDefinition<P, R, I, O> = Omit<
  ActionDefinition<P, R>,
  'input' | 'output' | 'run' | 'undo' | 'finalize' | 'plan' | 'verify' | 'whenOpen'
> & {
  /** What becomes of its steps while the circuit breaker of its agent is open: they wait, fail, or another action does them; as the agent says. */
  whenOpen?: WhenOpen<Given<NoInfer<I>>, Jsonified<NoInfer<O>>>
  /** Checks the input where the step is requested, and again where it runs; `run` is given what it makes of it. */
  input?: StandardSchema<I, P>
  /** Does the work. May run more than once: see `step.idempotencyKey`. */
  run(input: P, step: StepContext, received?: StepSignal): R | Promise<R>
  /** Takes back what `run` did. May run more than once. */
  undo?(done: { input: P; output: Jsonified<O> }, step: StepContext): unknown
  /**
   * Asks the service, by `step.idempotencyKey`, whether a lost attempt took effect. Must not change anything. Its `output` is of
   * the type that `run` gives.
   */
  verify?(input: P, step: StepContext): Verified<R> | Promise<Verified<R>>
  /** In a plan: runs once all its steps have run, in the order of planning. May run more than once. */
  finalize?(done: { input: P; output: Jsonified<O> }, step: StepContext, tx: never): unknown
}

/** With an output schema: what it is given. */
export type OutputOf<P, S> = [unknown] extends [S]
  ? unknown
  : {
      run(input: P, step: StepContext, received?: StepSignal): S | Promise<S>
      verify?(input: P, step: StepContext): Verified<S> | Promise<Verified<S>>
    }

/** An action that only plans others: what `plan` returns, references and all, is its output. */
export type PurePlanDefinition<A, R> = PolicyOptions &
  Pick<ActionDefinition, 'middleware' | 'subscribe'> & {
    /** Plans the steps. Answers at once. */
    plan(input: A, plan: PlanContext): R
    /** It has none: what it plans does the work. */
    run?: never
  }

/**
 * An action whose code runs in a pool of threads of the process, for what computes rather than waits.
 * @example
 * const resize = payments.action('resize', {
 *   thread: new URL('./resize.ts', import.meta.url),
 *   attemptWithin: '1m',
 * })
 */
export type ThreadActionDefinition = PolicyOptions &
  Pick<ActionDefinition, 'present' | 'hints' | 'middleware' | 'subscribe' | 'concurrency' | 'input' | 'output'> & {
    /**
     * The module with the code, as `new URL('./resize.ts', import.meta.url)`. It exports `run`, which is given copies of its
     * input and step (without `suspend`), one attempt a thread; an attempt that is not done by its complete-by is ended with it.
     */
    thread: URL | string
    /** The module exports `undo`, which runs there as well; false. */
    undo?: boolean
    /** The module exports `verify`, which runs there as well; false. */
    verify?: boolean
    /** The module has it. */
    run?: never
    /** A thread plans nothing. */
    plan?: never
    /** A thread finalizes nothing. */
    finalize?: never
  }

/**
 * A batch: one child task for each of any number of inputs. Policies (`retry`, …) are those of a page of its source.
 * @example
 * const chargeAll = payments.batch('charge-all', {
 *   workflow: fulfil,
 *   items: (day: { date: string }, { offset, limit }) => api.orders(day.date, offset, limit),
 *   tolerate: '5%',
 * })
 */
export interface BatchDefinition<I = unknown, C = unknown> extends Omit<PolicyOptions, 'semantics'>, BatchOptions {
  /** What each child runs. */
  workflow: Workflow<C, unknown>
  /** The children's inputs, by ordinal. A page may be asked for again after a crash: what it gives then counts. */
  items(input: I, page: PageRequest, step: StepContext): Items<C> | Promise<Items<C>>
}

/** A batch inside a durable function: its source may be the items themselves. */
export interface LocalBatchDefinition<C = unknown> extends Omit<PolicyOptions, 'semantics'>, BatchOptions {
  /** What each child runs. */
  workflow: Workflow<C, unknown>
  /** The children's inputs, or what gives a page of them. A page may be asked for again after a crash. */
  items: Items<C> | ((page: PageRequest, step: StepContext) => Items<C> | Promise<Items<C>>)
}

/**
 * A named group of actions on one remote service or resource, with a concurrency of its own.
 * @example const actions = [...payments.actions.keys()]
 */
export interface Agent {
  /** Its name, the first part of the keys of its actions. */
  readonly name: string
  /** Most attempts at a time in one process. */
  readonly concurrency: number
  /** Fewest of them, where they are as many as the service is well with. */
  readonly least?: number
  /** Most attempts at a time in all processes together. */
  readonly shared?: number
  /** The latter for each of these. */
  readonly sharedKey?: (input: unknown) => string
  /** When its service is left alone. */
  readonly circuitBreaker?: Readonly<CircuitBreakerOptions>
  /** How many attempts may begin in a time, over all nodes together. */
  readonly rateLimit?: Readonly<RateLimitOptions>
  /** What waits in its queue rises one level of priority for each such span. */
  readonly ageing?: Duration
  /** How its slots are parted by priority. */
  readonly pools?: Readonly<Required<PoolOptions>>
  /** Who shares its slots. */
  readonly fairness?: Readonly<FairnessOptions>
  /** What of it follows a setting. */
  readonly policy?: SettingPolicy<AgentPolicy>
  /** Its actions by their names. */
  readonly actions: ReadonlyMap<string, Action>
  /**
   * Defines an action. Throws DUPLICATE_DEFINITION, INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
   * @example
   * const charge = payments.action('charge', {
   *   attemptWithin: '5s',
   *   run: (order: { amount: number }, step) => api.charge(order, step.idempotencyKey),
   *   undo: ({ output }) => api.refund(output.id),
   * })
   */
  action<P, R, I = P>(
    name: string,
    definition: TypedActionDefinition<P, R, I, R> & { output?: never; plan?: never },
  ): Action<Given<I>, Jsonified<R>>
  action<P, R, O, I = P>(
    name: string,
    definition: TypedActionDefinition<P, NoInfer<R>, I, NoInfer<O>> & {
      output: StandardSchema<R, O>
      plan?: never
    },
  ): Action<Given<I>, Jsonified<O>>
  /** Defines an action whose code runs in a pool of threads: `action<typeof import('./resize.ts')>(…)`. */
  action<M extends ThreadModule = { run(input: unknown): unknown }>(
    name: string,
    definition: ThreadActionDefinition,
  ): Action<Given<ThreadInput<M>>, ThreadOutput<M>>
  /** Defines an action that plans others; with `run`, its own too, by `plan.self`. */
  action<A, R>(name: string, definition: PurePlanDefinition<A, R>): PlanningAction<A, Resolved<R>>
  action<A, P, R>(
    name: string,
    definition: TypedActionDefinition<P, R, P, R> & {
      plan(input: A, plan: ActionPlanContext<P, Jsonified<R>>): void
      output?: never
    },
  ): PlanningAction<A, Jsonified<R>>
  /** The first two in one, for the compiler: what it says of a definition that fits none is said of this. */
  action<P, R, S = unknown, O = R, I = P>(
    name: string,
    definition: TypedActionDefinition<P, R, I, O> & { output?: StandardSchema<S, O>; plan?: never } & OutputOf<
        P,
        NoInfer<S>
      >,
  ): Action<Given<I>, Jsonified<O>>
  /**
   * Defines a batch: a step that runs a child task for each of any number of inputs and gives the counts of what became of
   * them. Throws like action(), and UNKNOWN_WORKFLOW.
   * @example
   * const chargeAll = payments.batch('charge-all', {
   *   workflow: fulfil,
   *   items: (day: { date: string }, page) => api.orders(day.date, page.offset, page.limit),
   * })
   */
  batch<I, C>(
    name: string,
    definition: Omit<BatchDefinition<I, C>, 'items'> & {
      items(input: I, page: PageRequest, step: StepContext): Items<NoInfer<C>> | Promise<Items<NoInfer<C>>>
    },
  ): Action<Given<I>, BatchResult>
}

/** An action that plans others. It is given what `plan.step` is given, references and all. */
export interface PlanningAction<I = unknown, O = unknown> extends Action<I, O> {
  /** It plans others, and so needs its input when it is planned. */
  readonly plans: true
}

/**
 * Builds a plan. Steps run as soon as what they refer to is done; `sequence`, `concurrence` and `after` add order where no
 * data does. Used after `plan` has returned, or with what belongs to another plan, it throws PLAN_MISUSE.
 * @example
 * const flow = workflow('flow', {
 *   plan({ id }: { id: string }, plan) {
 *     const { output } = plan.step(charge, { id, amount: 10 })
 *     plan.step(ship, { id, charge: output.id })
 *     return { charge: output.id }
 *   },
 * })
 */
export interface PlanContext {
  /** The transaction given to submit(); undefined when a scheduler plans, and in a preview. */
  readonly transaction: unknown
  /** For an action that subscribes: the step it is planned beside. */
  readonly subscribed: Planned | undefined

  /**
   * Plans a step, or all that an action plans. Its `rescue` has the last word over those of what the action plans.
   * Throws PLAN_MISUSE, PLAN_TOO_LARGE, UNKNOWN_ACTION, INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example
   * const { output } = plan.step(charge, { id: 'o-1', amount: 10 })
   * plan.step(ship, { id: 'o-1', charge: output.id })
   */
  step<I, O, A extends Action<I, O>>(
    action: A & Action<I, O>,
    input: A extends { readonly plans: true } ? NoInfer<I> : Templated<NoInfer<I>>,
    options?: PlannedStepOptions,
  ): Planned<O>

  /**
   * What is planned in it runs one after the other.
   * @example
   * plan.sequence(() => {
   *   plan.step(charge, { id: 'o-1', amount: 10 })
   *   plan.step(charge, { id: 'o-2', amount: 20 })
   * })
   */
  sequence<T>(block: () => T): T

  /**
   * What is planned in it runs while the task has the lock of this name, which one task at a time can have. It is given
   * back when all of it is done; when some of it failed or was skipped, with the end of the task.
   * @example plan.lock('stock', () => plan.step(ship, { id: 'o-1', charge: 'c-1' }))
   */
  lock<T>(name: string, block: () => T): T

  /**
   * What is planned in it runs side by side, but for what refers to each other. So does the body of every plan.
   * @example
   * plan.sequence(() => {
   *   plan.concurrence(() => ['o-1', 'o-2'].map((id) => plan.step(charge, { id, amount: 10 })))
   *   plan.step(ship, { id: 'o-1', charge: 'c-1' })
   * })
   */
  concurrence<T>(block: () => T): T
}

/** The same for an action that plans: it may plan its own `run`, too. */
export interface ActionPlanContext<I, O> extends PlanContext {
  /**
   * Plans the action's own `run` (and `finalize`) with this input.
   * @example
   * const install = payments.action('install', {
   *   plan(input: { id: string; amount: number }, plan) {
   *     plan.self({ charge: plan.step(charge, input).output.id })
   *   },
   *   run: (input: { charge: string }) => ({ installed: input.charge }),
   * })
   */
  self(input: Templated<NoInfer<I>>, options?: PlannedStepOptions): Planned<O>
}

/**
 * A workflow's logic and its policies. `I` is what `run` is given, `O` what it returns.
 * @example
 * const fulfil = workflow('fulfil', {
 *   version: '2',
 *   rescue: 'compensate',
 *   taskWithin: '1d',
 *   run: async (order: { id: string; amount: number }, task) => task.run(charge, order),
 * })
 */
export interface WorkflowDefinition<I = unknown, O = unknown> extends WaitingTasks {
  /** A task keeps the version it started with; '1'. */
  version?: string
  /** Checks the input at submission; `run` is given what it makes of it. Must answer at once and always alike. */
  input?: StandardSchema
  /** Checks what `run` returns. */
  output?: StandardSchema
  /** The rescue strategy of its steps, over their actions'; and, unless it is a skip, of its own errors; compensate. */
  rescue?: RescueOption
  /** Complete-by of a task, counted from its submission or `startAt`, so that time in a queue counts; unbounded. */
  taskWithin?: Duration
  /** Complete-by of a task, counted from when its code, or its plan, begins: behind its queue, its locks and its predecessors; unbounded. */
  runWithin?: Duration
  /** Higher first: -1,000,000 to 1,000,000; 0. */
  priority?: number
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<I>
  /**
   * The signals it takes, with the schemas of their payloads: `task.waitForSignal` and a handle's `signal` are typed by them. What a schema
   * refuses is refused where it is sent, if that process knows the workflow, else set aside when it comes. Must answer at once and always alike.
   */
  signals?: SignalSchemas
  /** How long its tasks are kept once they have stopped, over what the Triarch says; null: for ever. */
  retention?: RetentionOption
  /** Where secrets are in its input and output: see the option of actions. */
  secrets?: readonly string[]
  /** Around its submission, its planning, and the attempts of its steps where its code is. */
  middleware?: readonly Middleware[]
  /** Workflows that run when a task of it changes its state. */
  hooks?: readonly TaskHook[]
  /** The logic: runs anew from the history whenever its task is taken up again, so all effects go through `task`. */
  run?(input: I, task: TaskContext): O | Promise<O>
  /**
   * Of a plan. 'steps': each `finalize` is a step of its own, at its agent. 'transaction': all are one step where the task is
   * owned, in one transaction of the store that also records it; the schedulers must know the agents.
   */
  finalizeAs?: 'steps' | 'transaction'
  /** Whether it is paused, or closed, as a setting says: what its `as()` returned; none. */
  policy?: SettingPolicy<WorkflowPolicy>
  /** In place of `run`: plans the task, once. What it returns, references and all, is the task's output. */
  plan?(input: I, plan: PlanContext): unknown
}

/**
 * How many tasks of a workflow may be submitted and wait for a node.
 * @example
 * const bounds: WaitingTasks = { maxQueued: 10_000, whenFull: 'wait' }
 * const imports = workflow('import', { ...bounds, run: async (n: number) => n })
 */
export interface WaitingTasks {
  /**
   * Once so many of its tasks are ready and no node has room for them, submissions are kept out, as `whenFull` says: 1 to 1,000,000; any
   * number when not given. What starts later, and what tasks and schedules start, is always taken.
   */
  maxQueued?: number
  /** `reject`: they are refused with QUEUE_FULL. `wait`: each waits for room, 30 s at most, in the order in which they came; not in a transaction of yours. `reject`. */
  whenFull?: 'reject' | 'wait'
}

/**
 * A defined workflow. `I` is what a submission gives, `O` what the task results in (as JSON has it), `E` the signals it takes.
 * @example
 * const wait = async <I, O>(workflow: Workflow<I, O>, input: NoInfer<I>) =>
 *   (await triarch.submit(workflow, input)).result()
 */
export interface Workflow<I = unknown, O = unknown, E extends SignalSchemas = NoSignals> {
  /** Its name. */
  readonly name: string
  /** Tasks keep the version they started with. */
  readonly version: string
  /** As it was given to workflow(). */
  readonly definition: WorkflowDefinition
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O; readonly signals: E }
}

/**
 * Runs a workflow whenever a task comes into one of these states. The hook is a task of its own, created by the very
 * transition that makes the move: it exists exactly if the move does, and runs at least once like every task. Hooks are
 * recorded with the submission, so they happen whichever node makes the move; those of a hook's own task do not.
 * @example
 * const told = workflow('told', { run: async ({ task, to }: TaskChange) => `${task} is ${to}` })
 * const hooks: TaskHook[] = [{ on: ['paused', 'error'], workflow: told }]
 */
export interface TaskHook {
  /** The states, or the outcomes, at which it runs. */
  on: HookState | readonly HookState[]
  /** What runs then. */
  workflow: Workflow<TaskChange, unknown>
}

/**
 * A workflow's hands and eyes. Everything a workflow does or learns goes through its context, is recorded, and is the same
 * when the workflow is replayed. Await only what the context gives (Promise.all, race, any, allSettled of it are fine), and
 * take time, chance and ids from here. Used otherwise it throws WORKFLOW_MISUSE.
 * @example
 * const bill = async (task: TaskContext, id: string) => {
 *   const paid = await task.run(charge, { id, amount: 10 })
 *   return paid.id
 * }
 */
export interface TaskContext<E extends SignalSchemas = NoSignals> {
  /** The task's id. */
  readonly id: string
  /** The workflow's name. */
  readonly workflow: string
  /** The version the task started with. */
  readonly version: string
  /** Of the task's submission, and of those of the tasks above it; empty where there was none. */
  readonly metadata: Readonly<Record<string, string>>
  /** Writes lines that are kept with the task: each is there once, however often the code is replayed. `task.logs()` of a handle has them. */
  readonly log: LogWriter

  /**
   * Runs a function as a step in this process: for effects too small for an agent. Rejects with StepFailedError.
   * @example
   * const { id } = await task.run(charge, { id: 'o-1', amount: 10 }, { rescue: 'pause' })
   * const rate = await task.run('rate', () => api.rate('EUR'), { retry: { attempts: 3 } })
   */
  run<O>(name: string, fn: (step: StepContext) => O | Promise<O>, options?: LocalStepOptions<O>): Promise<Jsonified<O>>
  /**
   * Runs an action as a step. Rejects with StepFailedError when the step's attempts are used up, with INVALID_INPUT,
   * UNSERIALISABLE or PAYLOAD_TOO_LARGE when the input is no good. One that takes no input needs none.
   */
  run<I, O>(action: Action<I, O> & WithoutInput<I>): Promise<O>
  run<I, O>(action: Action<I, O>, input: NoInfer<I>, options?: StepOptions): Promise<O>

  /**
   * Runs a function as a step inside a transaction on the state store's own database: what it writes takes effect exactly
   * once, whatever crashes. `tx` is a client of `pg`, or a DatabaseSync; write its type where the function takes it. The
   * function may run more than once, what it wrote before then undone: no effects but those through `tx`. It must not
   * end the transaction; it undoes it by throwing. Rejects with StepFailedError.
   * @example
   * await task.transaction('book', (tx: SqliteTransaction) => {
   *   tx.prepare('INSERT INTO bookings (id) VALUES (?)').run(task.id)
   * })
   */
  transaction<O, Tx = unknown>(
    name: string,
    fn: (tx: Tx, step: StepContext) => O | Promise<O>,
    options?: TransactionOptions<O, Tx>,
  ): Promise<Jsonified<O>>

  /**
   * Resolves after this long, or at this instant; never early. Costs nothing while it waits, in months too.
   * @example await task.sleep('30d')
   */
  sleep(until: Duration | Date): Promise<void>

  /**
   * The next signal of this name, in order of arrival; those that came before count. Declared `signals` of the workflow give its type,
   * and the schema unless one is given. Rejects with SignalTimeoutError.
   * @example const { by } = await task.waitForSignal<{ by: string }>('approved', { timeout: '2d' })
   */
  waitForSignal<K extends keyof E & string>(name: K, options?: WaitForSignalOptions): Promise<InferOutput<E[K]>>
  waitForSignal<T = unknown>(name: string, options?: CheckedSignalOptions<T>): Promise<T>

  /**
   * Runs a child task and waits for its output. Rejects with ChildFailedError.
   * @example const { receipt } = await task.call(fulfil, { id: 'o-1', amount: 10 })
   */
  call<I, O>(workflow: Workflow<I, O>, input: NoInfer<I>, options?: ChildOptions): Promise<O>

  /**
   * Starts a child task and waits only until it is certain to run.
   * @example const { id } = await task.start(fulfil, { id: 'o-1', amount: 10 }, { onCancel: 'detach' })
   */
  start<I, O>(workflow: Workflow<I, O>, input: NoInfer<I>, options?: ChildOptions): Promise<{ id: string }>

  /**
   * Takes the lock of this name, which one task at a time can have, in line with who else wants it: the highest priority
   * first, then the order of asking. Held until `release()`, or until the task has stopped and is undone. Rejects with
   * LOCK_TIMEOUT, and with LOCK_DEADLOCK when it would wait for itself, as a task does that has the lock already.
   * @example const lock = await task.lock('stock', { timeout: '1m' })
   */
  lock(name: string, options?: LockOptions): Promise<Lock>

  /**
   * Runs a child task for each of any number of inputs, and gives the counts of what became of them. The code of its source
   * stays in this process; agent.batch() is for sources elsewhere, and for plans. Rejects with StepFailedError.
   * @example
   * const { failed } = await task.batch('orders', {
   *   workflow: fulfil,
   *   items: [{ id: 'o-1', amount: 10 }],
   *   concurrency: 20,
   *   tolerate: '5%',
   * })
   */
  batch<C>(
    name: string,
    definition: Omit<LocalBatchDefinition<C>, 'items'> & { items: LocalBatchDefinition<NoInfer<C>>['items'] },
  ): Promise<BatchResult>

  /**
   * Registers a compensation for what the workflow did otherwise. May run more than once.
   * @example task.undo((step) => api.refund('c-1', step.idempotencyKey), { name: 'refund' })
   */
  undo(fn: (step: StepContext) => unknown, options?: UndoOptions): void

  /**
   * The instant of the present turn, the same on replay.
   * @example const due = new Date(task.now().getTime() + 86_400_000)
   */
  now(): Date
  /**
   * Uniform in [0, 1), the same on replay.
   * @example const chosen = task.random() < 0.1 ? 'new' : 'old'
   */
  random(): number
  /**
   * A UUID (version 8, drawn from the task's id), the same on replay.
   * @example const order = { id: task.uuid(), amount: 10 }
   */
  uuid(): string

  /**
   * Shows how far the task is: any JSON.
   * @example task.progress({ done: 3, of: 10 })
   */
  progress(value: unknown): void

  /**
   * True where the task runs new code, false where its history was made by the old: guards a change of a running
   * workflow. Keep the id for as long as such tasks live.
   * @example if (task.patched('ship-first')) await task.run(ship, { id: 'o-1', charge: 'c-1' })
   */
  patched(id: string): boolean

  /**
   * Ends this run and begins anew with this input and an empty history, under the same id. Never resolves.
   * @example
   * await task.sleep('1d')
   * await task.continueAsNew({ day: 2 })
   */
  continueAsNew(input: unknown): Promise<never>
}
