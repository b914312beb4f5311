import type { ParentPolicy } from '../kernel/task/order.ts'
import type { Duration } from '../value/duration.ts'

/**
 * The range of a batch's inputs that is requested.
 * @example const items = ({ offset, limit }: PageRequest) => api.orders('2026-01-01', offset, limit)
 */
export interface PageRequest {
  /** The ordinal of the first input. */
  readonly offset: number
  /** How many at most. An array with fewer means that there are no more. */
  readonly limit: number
}

/**
 * The result of a source. An array is the requested page; a longer one fails the batch with BATCH_PAGE_INVALID. Any other iterable is the
 * whole list, from which the page is taken.
 */
export type Items<C> = readonly C[] | Iterable<C> | AsyncIterable<C>

/**
 * How a batch runs its children, and when it fails.
 * @example const options: BatchOptions = { concurrency: 20, tolerate: '5%', failFast: false }
 */
export interface BatchOptions {
  /** Largest number of children that run at a time: 1 to 10,000; 100. */
  concurrency?: number
  /** Inputs requested at a time: 1 to 10,000; 1,000. */
  page?: number
  /** Failures that the batch tolerates: a number, a share of all its children ('5%'), or 'any'. 0; with a quorum, 'any'. */
  tolerate?: number | `${number}%` | 'any'
  /** Cancel the other children as soon as the batch is certain to fail, instead of running them to their end; true. */
  failFast?: boolean
  /** Number of successes that are enough: the batch succeeds, and the other children are cancelled; all are wanted. */
  quorum?: number
  /** What happens to the children when the batch is cancelled; cancel. */
  onCancel?: ParentPolicy
  /** Compensate the children when the task compensates; true. */
  undo?: boolean
  /** Options of each child; no tags, and otherwise as its workflow says. */
  child?: { tags?: Readonly<Record<string, string>>; priority?: number; taskWithin?: Duration }
}

/**
 * Counts of how a batch's children ended.
 * @example
 * const { total, success, failed }: BatchResult = await task.batch('orders', {
 *   workflow: fulfil,
 *   items: [order],
 * })
 */
export interface BatchResult {
  /** Number of children; with a quorum, of those that were started. */
  total: number
  /** Children that succeeded, also with a warning. */
  success: number
  /** Children that neither succeeded nor were cancelled. */
  failed: number
  /** Children that were cancelled. */
  cancelled: number
}
