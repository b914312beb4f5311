import type { Place } from '../environment/environment.ts'
import type { TriarchError } from '../error/error.ts'
import type { TaskResult, TaskStatus } from '../kernel/status.ts'
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
  /** The step of the parent that asked for it. Null also where a version that did not keep it made the task. */
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
  /** Why some of its texts cannot be decoded; those are no JSON then. */
  undecoded?: TriarchError
}

/** What those who wait for a task look at. */
export interface TaskMark {
  /** The id of the task. */
  id: string
  /** Another text whenever the row shows another status, progress, failure or pause; within one ms it may miss some. */
  mark: string
  /** It has stopped, and no operator's word waits that may set it going again. */
  ended: boolean
}

/** Which tasks to list. Conditions that are not given hold for all. */
export interface ListQuery {
  /** In this state, or in one of these. */
  status?: TaskStatus | readonly TaskStatus[]
  /** With this result, or with one of these. */
  result?: TaskResult | readonly TaskResult[]
  /** Of the workflow of this name. */
  workflow?: string
  /** Of this version of their workflow. */
  version?: string
  /** Children of this task. */
  parent?: string
  /** Children of this step, and those of which that is not known. */
  parentStep?: number
  /** Only those that are set apart. */
  quarantined?: true
  /** With all of these. */
  tags?: Record<string, string>
  /** Submitted later than this (ms since the epoch). */
  submittedAfter?: number
  /** Submitted earlier than this (ms since the epoch). */
  submittedBefore?: number
  /** Key of the last row of the page before. */
  after?: number
  /** Most rows. */
  limit: number
  /** By key. */
  order: 'newest' | 'oldest'
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

/** Nothing is counted any further: a number on a screen must not cost a walk through millions of rows. */
export const MOST_COUNTED = 10_000

/** The counts as they are told: those at the bound of MOST_COUNTED are named as truncated. */
export function countedUpTo({ tasks, ready, work, inbox }: StoreCounts): StoreCounts {
  const counts = { tasks, ready, work, inbox }
  const truncated = (['tasks', 'ready', 'work', 'inbox'] as const).filter((name) => counts[name] >= MOST_COUNTED)
  return truncated.length > 0 ? { ...counts, truncated } : counts
}
