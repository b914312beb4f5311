import { type Ancestor, childTaskId } from '../child/child.ts'
import type { ErrorRecord, Json } from '../json.ts'
import type { IfHeld } from '../lock/lock.ts'
import type { TaskOutcome } from '../status.ts'
import type { HookOrder, ParentPolicy } from '../task/order.ts'

/** What a batch was ordered to be, as data: recorded with the request of its step. */
export interface BatchPolicy {
  /** What each child runs. */
  workflow: string
  version: string
  /** Children started and not ended, at most. */
  concurrency: number
  /** Inputs asked for at a time. */
  page: number
  /** Failures it bears: a number, a share of all ('5%'), or any (null). */
  tolerate: number | string | null
  /** Call the others off as soon as it is certain to fail. */
  failFast: boolean
  /** So many successes are enough, and the others are called off; null: all are wanted. */
  quorum: number | null
  onCancel: ParentPolicy
  priority?: number
  tags?: Record<string, string>
  completeWithin?: number
  hooks?: HookOrder[]
  secrets?: string[]
}

/** Children from one ordinal to another (inclusive) that ended alike. */
export type Ended = [from: number, to: number, result: TaskOutcome]

/** How many children a batch has, and what became of them. */
export interface BatchCounts {
  /** Null while its source has more. */
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

/** The fold of a batch: its children are numbers, and only those that run are kept one by one. */
export interface Batch {
  /** Part of its children's ids: none is named like one of an earlier try. */
  generation: number
  total: number | null
  /** The ordinal of the next child to be created. */
  next: number
  /** Created (or told to try again, or to undo), and not heard of since. */
  outstanding: Set<number>
  /** Ended otherwise than well. */
  unhappy: Set<number>
  /** Those of them that are to be tried again. */
  again: number[]
  success: number
  failed: number
  cancelled: number
  /** No more children are started. */
  stopping: boolean
  /** How the first of the unhappy ended. */
  cause: ErrorRecord | undefined
  /** Why it fails. */
  error: ErrorRecord | undefined
  /** Children that were never made, for other tasks have their ids or their locks: nothing is ever said to those ids. */
  foreign: Set<number>
  /** While it is undone: children from here on were asked. */
  undoFrom: number | null
  /** The last page that its source gave in full, so that the same page under another offset is noticed. */
  page: PageMark | null
  /** Volatile: the next children, as the last page gave them. */
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

/** Of a batch that an earlier run of its task ran: as much as its undo needs. */
export interface CarriedBatch {
  generation: number
  next: number
  success: number
  foreign: number[]
}

/** One step of a batch, as the history has it. */
export interface BatchMove {
  /** In ranges, in the order of ordinals. */
  ended?: Ended[]
  /** Children that were never made: other tasks have their ids, or locks that they were not to wait for. */
  foreign?: number[]
  /** How many were created, from `next` on; while it is undone: asked to undo, from the last one down. */
  started?: number
  /** How many of those that failed before were told to try again. */
  again?: number
  /** Of how many of those that ended some is left that could not be undone. */
  left?: number
  /** How the first that did not succeed ended. */
  error?: ErrorRecord
}

/**
 * Tried again: children that ended well stay so, the others get another chance, and the source is asked for more. Those that
 * were not awaited to their end, for their task was stopped by force, are asked again how they are.
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

/** Failures it bears; a share of a total not known yet is any number. */
export function borne({ tolerate }: BatchPolicy, total: number | null): number {
  if (tolerate === null) return Number.POSITIVE_INFINITY
  if (typeof tolerate === 'number') return tolerate
  return total === null ? Number.POSITIVE_INFINITY : Math.floor((total * Number.parseFloat(tolerate)) / 100)
}

export function childId(of: Ancestor, step: number, { generation }: Batch, ordinal: number): string {
  return childTaskId(of, generation === 0 ? `${step}.${ordinal}` : `${step}-${generation}.${ordinal}`)
}

/** Ordinals with their results as ranges: children that end together are mostly neighbours. */
export function ranges(ended: ReadonlyMap<number, TaskOutcome>): Ended[] {
  const found: Ended[] = []
  for (const [ordinal, result] of [...ended].sort(([a], [b]) => a - b)) {
    const last = found.at(-1)
    if (last && last[1] === ordinal - 1 && last[2] === result) last[1] = ordinal
    else found.push([ordinal, ordinal, result])
  }
  return found
}

/** What a turn heard of a batch's children. */
export interface EndedChildren {
  results: Map<number, TaskOutcome>
  foreign: Set<number>
  /** How many say that some of what they did could not be undone. */
  left: number
  /** How the first that did not succeed ended. */
  error: ErrorRecord | undefined
}

/** Children of a batch from an ordinal on; `last`: there are no more. */
export interface Page {
  offset: number
  items: PageItem[]
  last: boolean
  /** Of its items, where the same items under another offset would mean that the source does not heed the offset. */
  digest?: string
}

/** What a page is recognised by. */
export interface PageMark {
  offset: number
  digest: string
}

/** `exclusive`: the locks the child must have to begin. */
export interface PageItem {
  input: Json
  exclusive?: { key: string; ifHeld: IfHeld }[]
}
