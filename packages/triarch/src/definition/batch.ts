import type { ParentPolicy } from '../kernel/task/order.ts'
import type { Duration } from '../value/duration.ts'

/**
 * Which of a batch's inputs are wanted.
 * @example const items = ({ offset, limit }: PageRequest) => api.orders('2026-01-01', offset, limit)
 */
export interface PageRequest {
  /** The ordinal of the first. */
  readonly offset: number
  /** How many at most; fewer (of an array) means that there are no more. */
  readonly limit: number
}

/**
 * What a source gives: an array is the page that was asked for, and a longer one fails the batch with BATCH_PAGE_INVALID;
 * any other iterable is all there is, and its part is taken.
 */
export type Items<C> = readonly C[] | Iterable<C> | AsyncIterable<C>

/**
 * What becomes of a batch's children, and of the batch when some of them fail.
 * @example const options: BatchOptions = { concurrency: 20, tolerate: '5%', failFast: false }
 */
export interface BatchOptions {
  /** Children started and not ended, at most: 1 to 10,000; 100. */
  concurrency?: number
  /** Inputs asked for at a time: 1 to 10,000; 1,000. */
  page?: number
  /** Failures the batch bears: a number, a share of all its children ('5%'), or 'any'. 0; with a quorum, 'any'. */
  tolerate?: number | `${number}%` | 'any'
  /** Call the others off as soon as the batch is certain to fail, rather than run them to their end; true. */
  failFast?: boolean
  /** So many successes are enough: the batch succeeds, and the others are called off; all are wanted. */
  quorum?: number
  /** What becomes of the children when the batch is called off; cancel. */
  onCancel?: ParentPolicy
  /** Compensate the children when the task compensates; true. */
  undo?: boolean
  /** Of each child; no tags, and otherwise as its workflow says. */
  child?: { tags?: Readonly<Record<string, string>>; priority?: number; taskWithin?: Duration }
}

/**
 * What became of a batch's children.
 * @example
 * const { total, success, failed }: BatchResult = await task.batch('orders', {
 *   workflow: fulfil,
 *   items: [order],
 * })
 */
export interface BatchResult {
  /** With a quorum: of those that were started. */
  total: number
  /** Children that succeeded, also with a warning. */
  success: number
  /** Children that neither succeeded nor were cancelled. */
  failed: number
  /** Children that were cancelled. */
  cancelled: number
}
