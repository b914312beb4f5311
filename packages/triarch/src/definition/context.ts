import type { ParentPolicy } from '../kernel/task/order.ts'
import type { Duration } from '../value/duration.ts'
import type { Jsonified, WithoutInput } from '../value/jsonified.ts'
import type { InferOutput, StandardSchema } from '../value/schema.ts'
import type { Action, StepContext } from './action.ts'
import type { BatchResult, LocalBatchDefinition } from './batch.ts'
import type { EventSchemas, NoEvents } from './event.ts'
import type { PolicyOptions } from './policy.ts'
import type { RetryOptions } from './retry.ts'
import type { Workflow } from './workflow.ts'

/** Retry options of a single step of an action: all that can be recorded as data. */
export type StepRetryOptions = Omit<RetryOptions, 'retryIf'>

/**
 * Policies of one step, over its action's and its workflow's.
 * @example await task.run(charge, order, { name: 'charge again', retry: { attempts: 3 } })
 */
export interface StepOptions extends PolicyOptions {
  /** Shown in place of the action's name. */
  name?: string
  /** How often and at what distance it is tried; the action's. */
  retry?: StepRetryOptions
  /** The same for its compensation; the action's. */
  undoRetry?: StepRetryOptions
}

/**
 * Policies of a local step, and its compensation.
 * @example
 * const { id } = await task.run('charge', () => api.charge(order), {
 *   undo: ({ output }) => api.refund(output.id),
 * })
 */
export interface LocalStepOptions<O> extends PolicyOptions {
  /** Takes back what the step did. May run more than once; runs in the workflow's own process. */
  undo?: (done: { output: Jsonified<O> }, step: StepContext) => unknown
}

/**
 * How far a transaction sees others' changes; SQLite's are serializable whatever is said.
 * @example const isolation: Isolation = 'serializable'
 */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/**
 * Policies of a transaction, and the transaction that takes it back. `Tx` as for `task.transaction`.
 * @example await task.transaction('book', () => null, { isolation: 'serializable' })
 */
export interface TransactionOptions<O, Tx> extends PolicyOptions {
  /** How far it sees others' changes; 'read committed'. With more, expect the function to run again now and then. */
  isolation?: Isolation
  /** Takes back what the function wrote, in a transaction of its own that takes effect once, too. */
  undo?: (tx: Tx, done: { output: Jsonified<O> }, step: StepContext) => unknown
}

/**
 * How a child task relates to its parent.
 * @example await task.start(fulfil, order, { id: 'o-1', onCancel: 'detach', tags: { customer: 'c-7' } })
 */
export interface ChildOptions {
  /** The child's task id; drawn from the parent's when not given. */
  id?: string
  /** What becomes of the child when the parent is cancelled or fails; cancel. */
  onCancel?: ParentPolicy
  /** Compensate the child when the parent compensates; true. */
  undo?: boolean
  /** For finding tasks: up to 32 short strings; none. */
  tags?: Readonly<Record<string, string>>
  /** Added to the parent's, which the child has besides; the child's own counts where both have a name. */
  metadata?: Readonly<Record<string, string>>
  /** Higher first: -1,000,000 to 1,000,000; the workflow's, or 0. */
  priority?: number
  /** Complete-by of the child, counted from its start; the workflow's. */
  completeWithin?: Duration
}

/**
 * How long to wait for an event, and what it must be.
 * @example const paid = await task.event('paid', { timeout: '2d' })
 */
export interface EventOptions<T> extends WaitForEventOptions {
  /**
   * Checks the payload, in place of what the workflow declares. Must answer at once and always alike. What it refuses, or fails
   * on, is set aside with an alert (EVENT_REFUSED), and the wait goes on.
   */
  schema?: StandardSchema<unknown, T>
}

/**
 * How long to wait for an event.
 * @example
 * const late = new AbortController()
 * const paid = task.event('paid', { timeout: '2d', signal: late.signal })
 */
export interface WaitForEventOptions {
  /** Give up after this long, or at this instant, with an EventTimeoutError; never. */
  timeout?: Duration | Date
  /** Give up, with its reason, when the workflow's own code aborts it; never. */
  signal?: AbortSignal
}

/**
 * How long to wait for a lock.
 * @example const lock = await task.lock('stock', { timeout: '1m' })
 */
export interface LockOptions {
  /** Give up after this long, or at this instant, with LOCK_TIMEOUT; never. */
  timeout?: Duration | Date
  /** Give up, with its reason, when the workflow's own code aborts it; never. */
  signal?: AbortSignal
}

/**
 * A lock that a task holds until it gives it back, or stops.
 * @example const { fence } = await task.lock('stock')
 */
export interface Lock {
  /** The name it was asked for by. */
  readonly name: string
  /**
   * The fencing number of this grant: higher than those of all grants before it, whoever had them. A resource that keeps the
   * highest it has seen, and refuses lower ones, is safe from a holder that has lost the lock and does not know it yet. The
   * same on replay; `step.fence` knows that of a later grant, too. 0: it was had from a version that gave none.
   */
  readonly fence: number
  /**
   * The next in line has it. Said again, it changes nothing.
   * @example
   * const lock = await task.lock('stock')
   * await task.run(ship, { id: 'o-1', charge: 'c-1' })
   * lock.release()
   */
  release(): void
}

/**
 * How a compensation that the workflow registers is tried.
 * @example task.undo(() => api.refund('c-1'), { name: 'refund', completeWithin: '5s' })
 */
export interface UndoOptions {
  /** Shown in the history; 'undo'. */
  name?: string
  /** How often and at what distance it is tried; as `undoRetry` of actions. */
  retry?: RetryOptions
  /** Complete-by of one attempt, counted from its start; 30 s. */
  completeWithin?: Duration
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
export interface TaskContext<E extends EventSchemas = NoEvents> {
  /** The task's id. */
  readonly id: string
  /** The workflow's name. */
  readonly workflow: string
  /** The version the task started with. */
  readonly version: string
  /** Of the task's submission, and of those of the tasks above it; empty where there was none. */
  readonly metadata: Readonly<Record<string, string>>

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
   * The next event of this name, in order of arrival; those that came before count. Declared `events` of the workflow give its type,
   * and the schema unless one is given. Rejects with EventTimeoutError.
   * @example const { by } = await task.event<{ by: string }>('approved', { timeout: '2d' })
   */
  event<K extends keyof E & string>(name: K, options?: WaitForEventOptions): Promise<InferOutput<E[K]>>
  event<T = unknown>(name: string, options?: EventOptions<T>): Promise<T>

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
   * await task.continueAs({ day: 2 })
   */
  continueAs(input: unknown): Promise<never>
}
