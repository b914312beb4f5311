import type { Place } from '../environment/environment.ts'
import type { TriarchError } from '../error/error.ts'
import type { TaskResult, TaskStatus } from '../kernel/status.ts'
import type { NodeRuns } from './gate.ts'
import type { Snapshot } from './task.ts'

export interface TaskRow extends Snapshot {
  key: number
  id: string
  workflow: string
  version: string
  priority: number
  tags: Record<string, string>
  parent: string | null
  /** The step of the parent that asked for it. Null also where a version that did not keep it made the task. */
  parentStep: number | null
  lockedBy: string | null
  epoch: number
  submittedAt: number
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
  id: string
  /** Another text whenever the row shows another status, progress, failure or pause; within one ms it may miss some. */
  mark: string
  /** It has stopped, and no operator's word waits that may set it going again. */
  ended: boolean
}

export interface ListQuery {
  status?: TaskStatus | readonly TaskStatus[]
  result?: TaskResult | readonly TaskResult[]
  workflow?: string
  version?: string
  parent?: string
  /** Children of this step, and those of which that is not known. */
  parentStep?: number
  /** Only those that are set apart. */
  quarantined?: true
  tags?: Record<string, string>
  submittedAfter?: number
  submittedBefore?: number
  /** Key of the last row of the page before. */
  after?: number
  limit: number
  order: 'newest' | 'oldest'
}

export interface NodeRow {
  id: string
  roles: string[]
  startedAt: number
  leaseUntil: number
  /** Null: it never said so. */
  runs: NodeRuns | null
  /** Null: it never said so. */
  place: Place | null
}

export interface StoreCounts {
  tasks: number
  ready: number
  work: number
  inbox: number
  /** Counts that are lower bounds: there is as much, or more. */
  truncated?: readonly ('tasks' | 'ready' | 'work' | 'inbox')[]
}

/** Nothing is counted any further: a number on a screen must not cost a walk through millions of rows. */
export const MOST_COUNTED = 10_000

export function countedUpTo({ tasks, ready, work, inbox }: StoreCounts): StoreCounts {
  const counts = { tasks, ready, work, inbox }
  const truncated = (['tasks', 'ready', 'work', 'inbox'] as const).filter((name) => counts[name] >= MOST_COUNTED)
  return truncated.length > 0 ? { ...counts, truncated } : counts
}
