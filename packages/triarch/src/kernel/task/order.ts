import type { Json } from '../json.ts'
import type { IfHeld } from '../lock/lock.ts'

/** What happens to a child when its parent is cancelled or fails. */
export type ParentPolicy = 'cancel' | 'detach' | 'wait'

/** The parent's task and the step that waits for this task. `ordinal`: the task's number in a batch. */
export interface Parent {
  task: string
  step: number
  ordinal?: number
  /** The parent waits for this task's end, as it does for the children of a batch. */
  awaits?: true
  /** Tasks that wait for the parent's own end, nearest first. */
  above?: string[]
}

/** The tenant or other owner of a task or request, for fairness among those who share a queue. */
export interface FairShare {
  /** At most 200 characters, none of them a control character. */
  readonly key: string
  /** The share relative to keys of weight 1: 0.01 to 100. */
  readonly weight: number
}

/** The data with which a task was submitted. */
export interface Submission {
  workflow: string
  version: string
  input: Json
  startAt?: number
  startBefore?: number
  completeBy?: number
  priority?: number
  tags?: Record<string, string>
  /** The share under which the task waits in the order of ready tasks; tasks that it starts inherit it. */
  share?: FairShare
  /** Metadata for the task's steps and for the tasks that it starts. */
  metadata?: Readonly<Record<string, string>>
  /** Locks that the task must hold to begin, and keeps until it stops. */
  exclusive?: { key: string; ifHeld: IfHeld }[]
  /** Tasks that must have stopped first; `success`: and must have succeeded. */
  after?: { task: string; on: 'success' | 'end' }[]
  /** The task does not begin before it is thawed. */
  frozen?: true
  parent?: Parent
  hooks?: HookOrder[]
  /** Paths of secrets in the task's input and output. */
  secrets?: string[]
  /** Texts in the task's input and metadata that are secret in the task that started it. Never shown. */
  secretTexts?: string[]
  /**
   * Distinguishes the task from earlier and later ones with the same id; part of its children's ids. Empty if the task's id contains an
   * incarnation already, that of its parent. The store assigns it at submission.
   */
  incarnation?: string
}

/** How many waiting ancestors a task knows; deadlock detection does not see those further up. */
const MOST_PARENTS = 32

/** The tasks that wait for the end of a task with this parent, nearest first. */
export function waitingParents({ task, ordinal, awaits, above = [] }: Parent): string[] {
  return awaits || ordinal !== undefined ? [task, ...above].slice(0, MOST_PARENTS) : []
}

/** A workflow that runs when the task enters one of these states, as recorded with the submission. */
export interface HookOrder {
  /** States of the task, and results with which it stops. */
  on: readonly string[]
  workflow: string
  version: string
}
