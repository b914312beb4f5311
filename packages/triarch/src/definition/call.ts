import type { ParentPolicy } from '../kernel/task/order.ts'
import type { Duration } from '../value/duration.ts'
import type { Jsonified } from '../value/jsonified.ts'
import type { StandardSchema } from '../value/schema.ts'
import type { PolicyOptions } from './policy.ts'
import type { RetryOptions } from './retry.ts'
import type { StepContext } from './step.ts'

/** Retry options of a single step of an action: all that can be recorded as data. */
export type StepRetryOptions = Omit<RetryOptions, 'retryIf'>

/**
 * Policies of one step, which override those of its action and its workflow.
 * @example await task.run(charge, order, { name: 'charge again', retry: { attempts: 3 } })
 */
export interface StepOptions extends PolicyOptions {
  /** Shown in place of the action's name. */
  name?: string
  /** Number of attempts and the waits between them; the action's. */
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
 * How far a transaction sees changes of concurrent ones; on SQLite transactions are always serializable.
 * @example const isolation: Isolation = 'serializable'
 */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/**
 * Policies of a transaction, and the transaction that undoes it. `Tx` as for `task.transaction`.
 * @example await task.transaction('book', () => null, { isolation: 'serializable' })
 */
export interface TransactionOptions<O, Tx> extends PolicyOptions {
  /** How far it sees concurrent changes; 'read committed'. At higher levels the function runs again now and then. */
  isolation?: Isolation
  /** Undoes what the function wrote, in a transaction of its own that also takes effect exactly once. */
  undo?: (tx: Tx, done: { output: Jsonified<O> }, step: StepContext) => unknown
}

/**
 * How a child task relates to its parent.
 * @example await task.start(fulfil, order, { id: 'o-1', onCancel: 'detach', tags: { customer: 'c-7' } })
 */
export interface ChildOptions {
  /** The child's task id; derived from the parent's when not given. */
  id?: string
  /**
   * With an `id`: what happens to a child with this id that the task started before. `renew`: a child that has stopped begins anew with
   * this input, one that runs is taken over if its input is the same. `match`: it is taken over if its input is the same, also if it has
   * stopped. `return`: it is taken over whatever its input. `reject`: TASK_EXISTS. Any other task with the id is always TASK_EXISTS; renew.
   */
  ifExists?: 'renew' | 'match' | 'return' | 'reject'
  /** What happens to the child when the parent is cancelled or fails; cancel. */
  onCancel?: ParentPolicy
  /** Compensate the child when the parent compensates; true. */
  undo?: boolean
  /** For finding tasks: up to 32 short strings; none. */
  tags?: Readonly<Record<string, string>>
  /** Added to the parent's metadata, which the child inherits; the child's own wins where both have a name. */
  metadata?: Readonly<Record<string, string>>
  /** Higher first: -1,000,000 to 1,000,000; the workflow's, or 0. */
  priority?: number
  /** Complete-by of the child, counted from its start; the workflow's. */
  taskWithin?: Duration
}

/**
 * How long to wait for a signal, and how it is checked.
 * @example const paid = await task.waitForSignal('paid', { timeout: '2d' })
 */
export interface CheckedSignalOptions<T> extends WaitForSignalOptions {
  /**
   * Checks the payload, in place of the schema that the workflow declares. Must answer synchronously and deterministically. A payload that
   * it refuses, or fails on, is set aside with an alert (SIGNAL_REFUSED), and the wait goes on.
   */
  schema?: StandardSchema<unknown, T>
}

/**
 * How long to wait for a signal.
 * @example
 * const late = new AbortController()
 * const paid = task.waitForSignal('paid', { timeout: '2d', signal: late.signal })
 */
export interface WaitForSignalOptions {
  /** Give up after this long, or at this instant, with a SignalTimeoutError; never. */
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
 * A lock that a task holds until it releases it or stops.
 * @example const { fence } = await task.lock('stock')
 */
export interface Lock {
  /** The name of the lock. */
  readonly name: string
  /**
   * The fencing number of this grant, higher than that of any earlier grant to any task. A resource that keeps the highest number it has
   * seen, and refuses lower ones, is safe from a holder that has lost the lock without knowing it yet. The same on replay; `step.fence`
   * also reflects later grants. 0: the lock was granted by a version without fencing numbers.
   */
  readonly fence: number
  /**
   * Releases the lock to the next task in its queue. A second call changes nothing.
   * @example
   * const lock = await task.lock('stock')
   * await task.run(ship, { id: 'o-1', charge: 'c-1' })
   * lock.release()
   */
  release(): void
}

/**
 * How a compensation that the workflow registers is tried.
 * @example task.undo(() => api.refund('c-1'), { name: 'refund', attemptWithin: '5s' })
 */
export interface UndoOptions {
  /** Shown in the history; 'undo'. */
  name?: string
  /** Number of attempts and the waits between them; as `undoRetry` of actions. */
  retry?: RetryOptions
  /** Complete-by of one attempt, counted from its start; 30 s. */
  attemptWithin?: Duration
}

/**
 * Policies of one planned step and its place in the plan.
 * @example
 * const first = plan.step(charge, { id: 'o-1', amount: 10 })
 * plan.step(ship, { id: 'o-1', charge: 'on invoice' }, { after: [first], rescue: 'skip' })
 */
export interface PlannedStepOptions extends StepOptions {
  /** Steps that must be done first, besides those that its input refers to. */
  after?: readonly { readonly output: unknown }[]
}
