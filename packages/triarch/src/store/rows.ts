import type { Place } from '../environment/environment.ts'
import type { TriarchError } from '../error/error.ts'
import type { NodeRuns } from './gate.ts'
import type { Snapshot } from './task.ts'

/** A task, as its row shows it. Instants are ms since the epoch. */
export interface TaskRow extends Snapshot {
  /** Its number in the store, in the order of creation. */
  key: number
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** Higher first. */
  priority: number
  /** The tags of its submission. */
  tags: Record<string, string>
  /** The task that started it; null: none did. */
  parent: string | null
  /** The step of the parent that started it; null: no step did, as for the task of a hook. */
  parentStep: number | null
  /** The node that has it; null: none has. */
  lockedBy: string | null
  /** How often it was claimed: the fence of its owner. */
  epoch: number
  /** When it was created. */
  submittedAt: number
  /** When its row was last written. */
  updatedAt: number
  /** Unowned, and waits for a scheduler that can run it. */
  ready: boolean
  /** Ready for a message that any scheduler can act on, with the workflow's code or without. */
  control: boolean
  /** Next wake-up of an unowned task. */
  wakeAt: number | null
  /** Set apart: nobody takes it before an operator's word. */
  quarantined: boolean
  /**
   * The record in which its output stands, where that is large and `output` says only which, in a form that is no JSON (`output.ts`). Of
   * those that everybody else reads it is never set: their output is there.
   */
  outputIn?: string
  /** The text of its output as the row has it, where something of it is secret (`kernel/veiled.ts`): set for everybody, and `output` is the value. */
  veiled?: string
  /** Why some of its texts cannot be decoded; those are no JSON then. */
  undecoded?: TriarchError
}

/** What those who wait for a task look at. */
export interface TaskVersion {
  /** The id of the task. */
  id: string
  /** Another text whenever the row shows another status, progress, failure or pause; within one ms it may miss some. */
  mark: string
  /** It has stopped, and no operator's word waits that may set it going again. */
  ended: boolean
}

/** Which tasks to list: those of which all conditions hold. */
export interface ListQuery {
  /** What their rows must say. */
  where: readonly RowCondition[]
  /** Go on behind the row of this key. */
  after?: number
  /** Most rows. */
  limit: number
  /** By key. */
  order: 'newest' | 'oldest'
  /** A copy may answer that is a moment behind: somebody looks, and decides nothing by it. */
  copy?: boolean
  /** What is large is left out: in the place of a progress or an output of more than `BRIEF` bytes stands a text that begins with `@`, which is no JSON. */
  brief?: boolean
}

/**
 * What a list can be asked by: columns of the row, its tags, and `troubled`: its result is neither `pending` nor `success`, or it is
 * paused. Only such rows have an error.
 */
export type RowColumn =
  | (
      | 'id'
      | 'workflow'
      | 'version'
      | 'status'
      | 'result'
      | 'parent'
      | 'parentStep'
      | 'lockedBy'
      | 'priority'
      | 'failures'
    )
  | ('submittedAt' | 'updatedAt' | 'ready' | 'quarantined' | 'troubled' | 'tag')

/** What a row must say. */
export interface RowCondition {
  /** Where. */
  column: RowColumn
  /** The name of the tag, where it is one. */
  tag?: string
  /** It does not hold. What has no value holds for nothing. */
  not?: true
  /** What must be so. */
  test: RowTest
}

/** It has a value, or is so; it is one of these texts, or lies within one of these ranges; it is a number between these, both included. */
export type RowTest =
  | { type: 'given' }
  | { type: 'text'; oneOf: readonly string[]; within?: readonly TextRange[] }
  | { type: 'number'; least?: number; most?: number }

/** Texts from the first on, and before the last (null: to the end), by their code points. */
export interface TextRange {
  /** The first of them. */
  from: string
  /** The first behind them. */
  to: string | null
}

/** The rows that one look found. */
export interface ListedTasks {
  /** In the order asked for. */
  rows: TaskRow[]
  /** As far as the look went (a key) before the page was full: there may be more behind it. Null: the page is full, or that is all. */
  looked: number | null
}

/** A node, as the store knows it. Instants are ms since the epoch, by the store's clock. */
export interface NodeRow {
  /** Another one for each life of a node. */
  id: string
  /** Its roles: `scheduler`, `agent`, `supervisor`. */
  roles: string[]
  /** When it registered. */
  startedAt: number
  /** Until when it is taken for alive, unless it says so again. */
  leaseUntil: number
  /** Null: it never said so. */
  runs: NodeRuns | null
  /** Null: it never said so. */
  place: Place | null
}

/** How much is in the store. Nothing is counted beyond 10,000. */
export interface StoreCounts {
  /** Tasks, whatever their state. */
  tasks: number
  /** Tasks that wait for a scheduler. */
  ready: number
  /** Requests in work queues. */
  work: number
  /** Messages that no task has taken yet. */
  inbox: number
  /** Counts that are lower bounds: there is as much, or more. */
  truncated?: readonly ('tasks' | 'ready' | 'work' | 'inbox')[]
}

/** Bytes of a progress or an output that a brief row has. */
export const BRIEF = 2_048

/** Nothing is counted any further: a number on a screen must not cost a walk through millions of rows. */
export const MOST_COUNTED = 10_000

/** The counts as they are told: those at the bound of MOST_COUNTED are named as truncated. */
export function countedUpTo({ tasks, ready, work, inbox }: StoreCounts): StoreCounts {
  const counts = { tasks, ready, work, inbox }
  const truncated = (['tasks', 'ready', 'work', 'inbox'] as const).filter((name) => counts[name] >= MOST_COUNTED)
  return truncated.length > 0 ? { ...counts, truncated } : counts
}
