import { type Ancestor, childTaskId } from '../child/child.ts'
import type { ErrorRecord, Json } from '../json.ts'
import type { IfHeld } from '../lock/lock.ts'
import type { TaskOutcome } from '../status.ts'
import type { HookOrder, ParentPolicy } from '../task/order.ts'

/** The policy of a batch as data; it is recorded with the request of its step. */
export interface BatchPolicy {
  /** The workflow that each child runs. */
  workflow: string
  version: string
  /** Largest number of children that have started and not ended. */
  concurrency: number
  /** Number of inputs asked for at a time. */
  page: number
  /** Failures that the batch tolerates: a number, a share of all ('5%'), or any number (null). */
  tolerate: number | string | null
  /** Cancel the other children as soon as the batch is certain to fail. */
  failFast: boolean
  /** Number of successes that are enough, after which the others are cancelled; null: all children must end. */
  quorum: number | null
  onCancel: ParentPolicy
  priority?: number
  tags?: Record<string, string>
  completeWithin?: number
  hooks?: HookOrder[]
  secrets?: string[]
}

/** Children from one ordinal to another (inclusive) that ended alike. */
export type EndedRange = [from: number, to: number, result: TaskOutcome]

/** How many children a batch has, and what became of them. */
export interface BatchCounts {
  /** Null while the source has more items. */
  total: number | null
  /** Children that were started. */
  started: number
  /** Children that have not stopped. */
  pending: number
  /** Children that succeeded, also with a warning. */
  success: number
  /** Children that neither succeeded nor were cancelled. */
  failed: number
  /** Children that were cancelled. */
  cancelled: number
}

/** The fold of a batch. Its children are numbers, and only those that run are kept one by one. */
export interface Batch {
  /** Part of the children's ids, so that no child is named like one of an earlier try. */
  generation: number
  total: number | null
  /** The ordinal of the next child to be created. */
  next: number
  /** Children that were created, or were asked to retry or to undo, and have not reported since. */
  outstanding: Set<number>
  /** Children that ended without success. */
  unhappy: Set<number>
  /** Children that failed before and are to be retried. */
  again: number[]
  success: number
  failed: number
  cancelled: number
  /** No more children are started. */
  stopping: boolean
  /** The error of the first child that ended without success. */
  cause: ErrorRecord | undefined
  /** The error with which the batch fails. */
  error: ErrorRecord | undefined
  /** Children that were never created, because other tasks have their ids or locks. No message is ever sent to those ids. */
  foreign: Set<number>
  /** While the batch is undone: children from this ordinal on were asked to undo. */
  undoFrom: number | null
  /** The last full page that the source gave; it detects a source that gives the same page under another offset. */
  page: PageMark | null
  /** Volatile: the next children, as given by the last page. */
  buffer: PageItem[]
}

export function newBatch(generation: number): Batch {
  return {
    generation,
    total: null,
    next: 0,
    outstanding: new Set(),
    unhappy: new Set(),
    again: [],
    success: 0,
    failed: 0,
    cancelled: 0,
    stopping: false,
    cause: undefined,
    error: undefined,
    foreign: new Set(),
    undoFrom: null,
    page: null,
    buffer: [],
  }
}

/** The part of a batch of an earlier run that its undo needs. */
export interface CarriedBatch {
  generation: number
  next: number
  success: number
  foreign: number[]
}

/** One step forward of a batch, as the history records it. */
export interface BatchMove {
  /** Ordinals in ascending ranges. */
  ended?: EndedRange[]
  /** Children that were never created, because other tasks have their ids, or locks for which they were not to wait. */
  foreign?: number[]
  /** How many were created, from `next` on; while the batch is undone: how many were asked to undo, from the last one down. */
  started?: number
  /** How many of the children that failed before were asked to retry. */
  again?: number
  /** How many of the ended children have effects that could not be undone. */
  left?: number
  /** The error of the first child that did not succeed. */
  error?: ErrorRecord
}

/**
 * Prepares a retry of the batch: children that succeeded are kept, the others are retried, and the source is asked for more. Children whose
 * end was not awaited, because their task was stopped by force, are asked for their state.
 */
export function tryAgain(batch: Batch): void {
  batch.again = [...batch.unhappy, ...batch.outstanding].sort((a, b) => a - b)
  batch.unhappy.clear()
  batch.outstanding.clear()
  batch.failed = batch.foreign.size
  batch.cancelled = 0
  batch.stopping = false
  batch.cause = undefined
  batch.error = undefined
  batch.total = null
  batch.buffer = []
}

export function countsOf({ total, next, outstanding, again, success, failed, cancelled }: Batch): BatchCounts {
  return { total, started: next, pending: outstanding.size + again.length, success, failed, cancelled }
}

/** The number of failures that the batch tolerates. A share of a total that is not known yet tolerates any number. */
export function borne({ tolerate }: BatchPolicy, total: number | null): number {
  if (tolerate === null) return Number.POSITIVE_INFINITY
  if (typeof tolerate === 'number') return tolerate
  return total === null ? Number.POSITIVE_INFINITY : Math.floor((total * Number.parseFloat(tolerate)) / 100)
}

export function childId(of: Ancestor, step: number, { generation }: Batch, ordinal: number): string {
  return childTaskId(of, generation === 0 ? `${step}.${ordinal}` : `${step}-${generation}.${ordinal}`)
}

/** Joins ordinals with equal results into ranges, because children that end together are mostly neighbours. */
export function ranges(ended: ReadonlyMap<number, TaskOutcome>): EndedRange[] {
  const found: EndedRange[] = []
  for (const [ordinal, result] of [...ended].sort(([a], [b]) => a - b)) {
    const last = found.at(-1)
    if (last && last[1] === ordinal - 1 && last[2] === result) last[1] = ordinal
    else found.push([ordinal, ordinal, result])
  }
  return found
}

/** Ends of a batch's children that one turn received. */
export interface EndedChildren {
  results: Map<number, TaskOutcome>
  foreign: Set<number>
  /** How many of them report effects that could not be undone. */
  left: number
  /** The error of the first child that did not succeed. */
  error: ErrorRecord | undefined
}

/** Items for the children of a batch, from an ordinal on; `last`: the source has no more. */
export interface Page {
  offset: number
  items: PageItem[]
  last: boolean
  /** Digest of the items, given where equal items under another offset would mean that the source ignores the offset. */
  digest?: string
}

/** Offset and digest by which a page is recognised. */
export interface PageMark {
  offset: number
  digest: string
}

/** The input of one child. `exclusive`: the locks the child must have to begin. */
export interface PageItem {
  input: Json
  exclusive?: { key: string; ifHeld: IfHeld }[]
}
