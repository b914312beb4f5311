// The types of everything that users define, and of the contexts that their code gets. They refer to each other (an action to its agent, an
// agent to workflows, a workflow to its task, a task to actions), so they are in one file, which imports none of the functions that create
// them.
import type { BatchPolicy } from '../kernel/batch/batch.ts'
import type { Duration } from '../value/duration.ts'
import type { GivenInput, Jsonified, WithoutInput } from '../value/jsonified.ts'
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
  /** Describes a step for people. It gets no secret values. */
  present?(step: PresentedStep): string
  /** Advice for people when a step fails. */
  hints?: string | readonly string[] | ((step: PresentedStep) => string | readonly string[])
  /** Middleware around the attempts of its steps and around its planning. */
  middleware?: readonly Middleware[]
  /** The action is planned whenever one of these is, with the same input, concurrently unless it refers to that step's output. */
  subscribe?: readonly Pick<Action, 'key' | 'definition'>[]
  /** Most attempts at a time in one process, within its agent's: 1 to 100,000; the agent's. Or in all processes together. */
  concurrency?: number | ConcurrencyOptions
  /** How many attempts may begin in a span of time, over all nodes together, within its agent's `rateLimit`. */
  rateLimit?: RateLimitOptions
  /**
   * How long answers of the action are reused without a call. For actions that only read: it is refused with `undo`, `verify`, `plan`,
   * `finalize` or `semantics: 'at-most-once'`.
   */
  cache?: CacheOptions<I>
  /** What happens to its steps while its agent's circuit breaker is open; as the agent says. A fallback excludes `plan` and `finalize`. */
  whenOpen?: WhenOpen
  /** Checks the input where the step is requested, and again where it runs; `run` gets its result. */
  input?: StandardSchema
  /** Checks the output of `run` (or `verify`) before it is recorded. */
  output?: StandardSchema
  /** Does the work. May run more than once: see `idempotencyKey`. Missing only where `plan` is given. */
  run?(input: I, step: StepContext, received?: StepSignal): O | Promise<O>
  /** Plans other actions, and (by `plan.self`) this one's own `run`, when the action is planned. Must answer synchronously. */
  plan?(input: unknown, plan: ActionPlanContext<unknown, unknown>): unknown
  /**
   * In a plan: runs once all its steps have run, in the order of planning. May run more than once. `tx`: the transaction, in
   * workflows that finalize in one.
   */
  finalize?(done: { input: I; output: unknown }, step: StepContext, tx: unknown): unknown
  /** Undoes what `run` did. May run more than once. */
  undo?(done: { input: I; output: unknown }, step: StepContext): unknown
  /** Asks the service, by the idempotency key, whether a lost attempt took effect. Must not change anything. */
  verify?(input: I, step: StepContext): Verification<O> | Promise<Verification<O>>
  /** @internal The code is in a module that runs in threads. */
  readonly thread?: { readonly module: string; readonly undo: boolean; readonly verify: boolean }
  /** @internal Set by agent.batch(): `run` returns the pages of its source. */
  readonly batch?: { readonly policy: BatchPolicy; readonly undo: boolean }
}

/**
 * A defined action. `I` is the input that a workflow passes, `O` the output it gets (after JSON).
 * @example
 * const bill = (action: Action<{ id: string; amount: number }>, task: TaskContext) =>
 *   task.run(action, { id: 'o-1', amount: 10 })
 */
export interface Action<I = unknown, O = unknown> {
  /** The agent of the action. */
  readonly agent: Agent
  /** Its name within the agent. */
  readonly name: string
  /** `agent.action`. */
  readonly key: string
  /** The definition that was passed to `agent.action`. */
  readonly definition: ActionDefinition
  /** Whether the action plans other actions. */
  readonly plans: boolean
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O }
}

/**
 * What happens to a step while its agent's circuit breaker is open: it waits (`park`), fails at once with CIRCUIT_OPEN (`fail`), or is done
 * by another action of another agent, with the same input and output. That action then does all of the step, also its undo.
 * @example
 * const last = agent('archive').action('last', { run: (currency: string) => ({ currency, rate: 1 }) })
 * const whenOpen: WhenOpen<string, { currency: string; rate: number }> = { fallback: last }
 */
export type WhenOpen<I = unknown, O = unknown> = 'park' | 'fail' | { readonly fallback: Action<I, O> }

/**
 * The answer of `verify`. The type `R` is inferred from `run` alone: from a `verify` that returns `{ done }` it would be inferred as `R |
 * undefined` wherever `exactOptionalPropertyTypes` is off, which is the default. If `run` never returns, any output is allowed.
 * @example const answer: Verified<{ id: string }> = { done: true, output: { id: 'c-1' } }
 */
export type Verified<R> = Verification<[R] extends [never] ? unknown : NoInfer<R>>

/** An action's definition as users write it; the types come from its schemas, or else from the annotations of `run`. */
export type TypedActionDefinition<P, R, I, O> = Omit<
  ActionDefinition<P, R>,
  'input' | 'output' | 'run' | 'undo' | 'finalize' | 'plan' | 'verify' | 'whenOpen'
> & {
  /** What happens to its steps while its agent's circuit breaker is open: they wait, fail or go to another action; as the agent says. */
  whenOpen?: WhenOpen<GivenInput<NoInfer<I>>, Jsonified<NoInfer<O>>>
  /** Checks the input where the step is requested, and again where it runs; `run` gets its result. */
  input?: StandardSchema<I, P>
  /** Does the work. May run more than once: see `step.idempotencyKey`. */
  run(input: P, step: StepContext, received?: StepSignal): R | Promise<R>
  /** Undoes what `run` did. May run more than once. */
  undo?(done: { input: P; output: Jsonified<O> }, step: StepContext): unknown
  /**
   * Asks the service, by `step.idempotencyKey`, whether a lost attempt took effect. Must not change anything. Its `output` is of
   * the type that `run` gives.
   */
  verify?(input: P, step: StepContext): Verified<R> | Promise<Verified<R>>
  /** In a plan: runs once all its steps have run, in the order of planning. May run more than once. */
  finalize?(done: { input: P; output: Jsonified<O> }, step: StepContext, tx: never): unknown
}

/** The type that `run` must return: the input of the output schema, if there is one. */
export type OutputOf<P, S> = [unknown] extends [S]
  ? unknown
  : {
      run(input: P, step: StepContext, received?: StepSignal): S | Promise<S>
      verify?(input: P, step: StepContext): Verified<S> | Promise<Verified<S>>
    }

/** An action that only plans others: the return value of `plan`, with its references resolved, is its output. */
export type PurePlanDefinition<A, R> = PolicyOptions &
  Pick<ActionDefinition, 'middleware' | 'subscribe'> & {
    /** Plans the steps. Must answer synchronously. */
    plan(input: A, plan: PlanContext): R
    /** Such an action has no `run`; the steps it plans do the work. */
    run?: never
  }

/**
 * An action whose code runs in a pool of threads of the process, for work that computes rather than waits.
 * @example
 * const resize = payments.action('resize', {
 *   thread: new URL('./resize.ts', import.meta.url),
 *   attemptWithin: '1m',
 * })
 */
export type ThreadActionDefinition = PolicyOptions &
  Pick<ActionDefinition, 'present' | 'hints' | 'middleware' | 'subscribe' | 'concurrency' | 'input' | 'output'> & {
    /**
     * The module with the code, as `new URL('./resize.ts', import.meta.url)`. It exports `run`, which gets copies of its input and step
     * (without `suspend`). A thread runs one attempt at a time and is terminated if the attempt is not done by its complete-by.
     */
    thread: URL | string
    /** The module exports `undo`, which runs there as well; false. */
    undo?: boolean
    /** The module exports `verify`, which runs there as well; false. */
    verify?: boolean
    /** `run` is in the module. */
    run?: never
    /** An action in a thread cannot plan. */
    plan?: never
    /** An action in a thread cannot finalize. */
    finalize?: never
  }

/**
 * A batch: one child task for each of any number of inputs. Policies (`retry`, …) apply to each page of its source.
 * @example
 * const chargeAll = payments.batch('charge-all', {
 *   workflow: fulfil,
 *   items: (day: { date: string }, { offset, limit }) => api.orders(day.date, offset, limit),
 *   tolerate: '5%',
 * })
 */
export interface BatchDefinition<I = unknown, C = unknown> extends Omit<PolicyOptions, 'semantics'>, BatchOptions {
  /** The workflow that each child runs. */
  workflow: Workflow<C, unknown>
  /** The children's inputs, by ordinal. A page may be requested again after a crash; the last result counts. */
  items(input: I, page: PageRequest, step: StepContext): Items<C> | Promise<Items<C>>
}

/** A batch inside a durable function: its source may be the items themselves. */
export interface LocalBatchDefinition<C = unknown> extends Omit<PolicyOptions, 'semantics'>, BatchOptions {
  /** The workflow that each child runs. */
  workflow: Workflow<C, unknown>
  /** The children's inputs, or a function that returns a page of them. A page may be requested again after a crash. */
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
  /** Fewest attempts at a time, if the concurrency is adaptive. */
  readonly least?: number
  /** Most attempts at a time in all processes together. */
  readonly shared?: number
  /** The key of the shared limit, if there is one limit per key. */
  readonly sharedKey?: (input: unknown) => string
  /** The circuit breaker of its service. */
  readonly circuitBreaker?: Readonly<CircuitBreakerOptions>
  /** How many attempts may begin in a span of time, over all nodes together. */
  readonly rateLimit?: Readonly<RateLimitOptions>
  /** Waiting requests rise one level of priority for each such span. */
  readonly ageing?: Duration
  /** How its slots are divided by priority. */
  readonly pools?: Readonly<Required<PoolOptions>>
  /** How tenants share its slots. */
  readonly fairness?: Readonly<FairnessOptions>
  /** The policy that follows a setting. */
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
  ): Action<GivenInput<I>, Jsonified<R>>
  action<P, R, O, I = P>(
    name: string,
    definition: TypedActionDefinition<P, NoInfer<R>, I, NoInfer<O>> & {
      output: StandardSchema<R, O>
      plan?: never
    },
  ): Action<GivenInput<I>, Jsonified<O>>
  /** Defines an action whose code runs in a pool of threads: `action<typeof import('./resize.ts')>(…)`. */
  action<M extends ThreadModule = { run(input: unknown): unknown }>(
    name: string,
    definition: ThreadActionDefinition,
  ): Action<GivenInput<ThreadInput<M>>, ThreadOutput<M>>
  /** Defines an action that plans others and, by `plan.self`, its own `run`, if it has one. */
  action<A, R>(name: string, definition: PurePlanDefinition<A, R>): PlanningAction<A, Resolved<R>>
  action<A, P, R>(
    name: string,
    definition: TypedActionDefinition<P, R, P, R> & {
      plan(input: A, plan: ActionPlanContext<P, Jsonified<R>>): void
      output?: never
    },
  ): PlanningAction<A, Jsonified<R>>
  /** The first two overloads in one: compiler errors for a definition that fits none refer to this one. */
  action<P, R, S = unknown, O = R, I = P>(
    name: string,
    definition: TypedActionDefinition<P, R, I, O> & { output?: StandardSchema<S, O>; plan?: never } & OutputOf<
        P,
        NoInfer<S>
      >,
  ): Action<GivenInput<I>, Jsonified<O>>
  /**
   * Defines a batch: a step that runs a child task for each of any number of inputs and outputs the counts of how they ended. Throws like
   * action(), and UNKNOWN_WORKFLOW.
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
  ): Action<GivenInput<I>, BatchResult>
}

/** An action that plans others. It gets the input that `plan.step` was given, with references unresolved. */
export interface PlanningAction<I = unknown, O = unknown> extends Action<I, O> {
  /** The action plans others, so it needs its input when it is planned. */
  readonly plans: true
}

/**
 * Builds a plan. A step runs as soon as the steps it refers to are done; `sequence`, `concurrence` and `after` add order where no data
 * does. A use after `plan` has returned, or with parts of another plan, throws PLAN_MISUSE.
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
  /** For a subscribing action: the step that it was planned with. */
  readonly subscribed: Planned | undefined

  /**
   * Plans a step, or all steps that an action plans. Its `rescue` overrides those of the steps that the action plans. Throws PLAN_MISUSE,
   * PLAN_TOO_LARGE, UNKNOWN_ACTION, INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
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
   * Steps planned in the block run one after the other.
   * @example
   * plan.sequence(() => {
   *   plan.step(charge, { id: 'o-1', amount: 10 })
   *   plan.step(charge, { id: 'o-2', amount: 20 })
   * })
   */
  sequence<T>(block: () => T): T

  /**
   * Steps planned in the block run while the task holds the lock of this name, which one task at a time can have. The lock is released when
   * all of them are done; if some failed or were skipped, when the task ends. Throws LOCK_DEADLOCK if the task may have the lock already.
   * @example plan.lock('stock', () => plan.step(ship, { id: 'o-1', charge: 'c-1' }))
   */
  lock<T>(name: string, block: () => T): T

  /**
   * Steps planned in the block run concurrently, except where one refers to another. The body of every plan is such a block.
   * @example
   * plan.sequence(() => {
   *   plan.concurrence(() => ['o-1', 'o-2'].map((id) => plan.step(charge, { id, amount: 10 })))
   *   plan.step(ship, { id: 'o-1', charge: 'c-1' })
   * })
   */
  concurrence<T>(block: () => T): T
}

/** The context of an action that plans, which may also plan its own `run`. */
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
 * A workflow's logic and its policies. `I` is the input of `run`, `O` its return value.
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
  /** Checks the input at submission; `run` gets its result. Must be synchronous and deterministic. */
  input?: StandardSchema
  /** Checks the return value of `run`. */
  output?: StandardSchema
  /** The rescue strategy of its steps, which overrides that of their actions, and, unless it is a skip, of its own errors; compensate. */
  rescue?: RescueOption
  /** Complete-by of a task, counted from its submission or `startAt`, so that time in a queue counts; unbounded. */
  taskWithin?: Duration
  /** Complete-by of a task, counted from when its code or plan begins, after all waits for queue, locks and predecessors; unbounded. */
  runWithin?: Duration
  /** Higher first: -1,000,000 to 1,000,000; 0. */
  priority?: number
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<I>
  /**
   * The signals that the workflow accepts, with the schemas of their payloads; they type `task.waitForSignal` and a handle's `signal`. A
   * payload that its schema refuses is refused at the sender if that process knows the workflow, else set aside when it arrives. Schemas
   * must be synchronous and deterministic.
   */
  signals?: SignalSchemas
  /** How long its stopped tasks are kept, which overrides the option of Triarch; null: for ever. */
  retention?: RetentionOption
  /** Paths of secrets in its input and output: see the option of actions. */
  secrets?: readonly string[]
  /** Middleware around its submission, its planning, and the attempts of its steps in processes that have its code. */
  middleware?: readonly Middleware[]
  /** Workflows that run when a task of it changes its state. */
  hooks?: readonly TaskHook[]
  /** The logic. It is replayed from the history whenever its task is resumed, so all effects must go through `task`. */
  run?(input: I, task: TaskContext): O | Promise<O>
  /**
   * How a plan is finalized. 'steps': each `finalize` is a step of its own, run by its agent. 'transaction': all of them are one step in
   * the process that owns the task, in one transaction of the store that also records it; schedulers must know the agents.
   */
  finalizeAs?: 'steps' | 'transaction'
  /** A policy that follows a setting and pauses or closes the workflow: the result of the setting's `as()`; none. */
  policy?: SettingPolicy<WorkflowPolicy>
  /** In place of `run`: plans the task, once. Its return value, with references resolved, is the task's output. */
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
   * Once this many of its tasks are ready and no node has room for them, new submissions are handled as `whenFull` says: 1 to 1,000,000;
   * any number when not given. Tasks with a later start, and those started by tasks and schedules, are always accepted.
   */
  maxQueued?: number
  /**
   * `reject`: submissions are refused with QUEUE_FULL. `wait`: each waits for room, in order of arrival, for at most 30 s; not in a
   * transaction of the caller. `reject`.
   */
  whenFull?: 'reject' | 'wait'
}

/**
 * A defined workflow. `I` is the input of a submission, `O` the task's output (after JSON), `E` the signals it accepts.
 * @example
 * const wait = async <I, O>(workflow: Workflow<I, O>, input: NoInfer<I>) =>
 *   (await triarch.submit(workflow, input)).result()
 */
export interface Workflow<I = unknown, O = unknown, E extends SignalSchemas = NoSignals> {
  /** Its name. */
  readonly name: string
  /** Tasks keep the version they started with. */
  readonly version: string
  /** The definition that was passed to workflow(). */
  readonly definition: WorkflowDefinition
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O; readonly signals: E }
}

/**
 * Runs a workflow whenever a task enters one of these states. The hook is a task of its own, created by the same transition that changes
 * the state: it exists exactly if the change does, and runs at least once, like every task. Hooks are recorded with the submission, so they
 * run whichever node makes the change. The task of a hook has no hooks itself.
 * @example
 * const told = workflow('told', { run: async ({ task, to }: TaskChange) => `${task} is ${to}` })
 * const hooks: TaskHook[] = [{ on: ['paused', 'error'], workflow: told }]
 */
export interface TaskHook {
  /** The states or outcomes at which the hook runs. */
  on: HookState | readonly HookState[]
  /** The workflow of the hook. */
  workflow: Workflow<TaskChange, unknown>
}

/**
 * The interface of a workflow to the outside. Everything a workflow does or learns goes through its context, is recorded, and is the same
 * on replay. Await only promises of the context (also through Promise.all, race, any, allSettled), and take time, random numbers and ids
 * from it. Other use throws WORKFLOW_MISUSE.
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
  /** Metadata of the task's submission and of its ancestors' submissions; empty if there was none. */
  readonly metadata: Readonly<Record<string, string>>
  /** Writes lines that are kept with the task, each once however often the code is replayed. `task.logs()` of a handle returns them. */
  readonly log: LogWriter

  /**
   * Runs a function as a step in this process: for effects too small for an agent. Rejects with StepFailedError.
   * @example
   * const { id } = await task.run(charge, { id: 'o-1', amount: 10 }, { rescue: 'pause' })
   * const rate = await task.run('rate', () => api.rate('EUR'), { retry: { attempts: 3 } })
   */
  run<O>(name: string, fn: (step: StepContext) => O | Promise<O>, options?: LocalStepOptions<O>): Promise<Jsonified<O>>
  /**
   * Runs an action as a step. Rejects with StepFailedError when the step's attempts are used up, and with INVALID_INPUT, UNSERIALISABLE or
   * PAYLOAD_TOO_LARGE for an invalid input. The input may be omitted if the action takes none.
   */
  run<I, O>(action: Action<I, O> & WithoutInput<I>): Promise<O>
  run<I, O>(action: Action<I, O>, input: NoInfer<I>, options?: StepOptions): Promise<O>

  /**
   * Runs a function as a step inside a transaction on the state store's own database, so that its writes take effect exactly once, whatever
   * crashes. `tx` is a client of `pg`, or a DatabaseSync; declare its type in the function's parameter. The function may run more than
   * once, with its earlier writes rolled back, so it must have no effects other than those through `tx`. It must not end the transaction;
   * to roll back, it throws. Rejects with StepFailedError.
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
   * Resolves after this long, or at this instant; never early. The wait uses no resources, even over months.
   * @example await task.sleep('30d')
   */
  sleep(until: Duration | Date): Promise<void>

  /**
   * The next signal of this name, in order of arrival, including signals that arrived before. The workflow's declared `signals` give its
   * type, and its schema unless one is given. Rejects with SignalTimeoutError.
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
   * Takes the lock of this name, which one task at a time can have. Waiting tasks are served by priority, then in order of request. Held
   * until `release()`, or until the task has stopped and is undone. Rejects with LOCK_TIMEOUT, and with LOCK_DEADLOCK if the task would
   * wait for itself, for example because it holds the lock already.
   * @example const lock = await task.lock('stock', { timeout: '1m' })
   */
  lock(name: string, options?: LockOptions): Promise<Lock>

  /**
   * Runs a child task for each of any number of inputs, and returns the counts of how they ended. The code of the source stays in this
   * process; use agent.batch() for sources elsewhere, and for plans. Rejects with StepFailedError.
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
   * Registers a compensation for effects that the workflow had other than by steps. May run more than once.
   * @example task.undo((step) => api.refund('c-1', step.idempotencyKey), { name: 'refund' })
   */
  undo(fn: (step: StepContext) => unknown, options?: UndoOptions): void

  /**
   * The instant of the current turn, the same on replay.
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
   * Reports how far the task is: any JSON.
   * @example task.progress({ done: 3, of: 10 })
   */
  progress(value: unknown): void

  /**
   * Returns true where the task runs new code, false where its history was made by the old code: guards a change of a workflow with running
   * tasks. Keep the id for as long as such tasks live.
   * @example if (task.patched('ship-first')) await task.run(ship, { id: 'o-1', charge: 'c-1' })
   */
  patched(id: string): boolean

  /**
   * Ends this run and begins another with this input and an empty history, under the same id. Never resolves.
   * @example
   * await task.sleep('1d')
   * await task.continueAsNew({ day: 2 })
   */
  continueAsNew(input: unknown): Promise<never>
}
