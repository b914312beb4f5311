import type { Json } from '../json.ts'
import type { IfHeld } from '../lock/lock.ts'

/** What a parent wants of a child when the parent is cancelled or fails. */
export type ParentPolicy = 'cancel' | 'detach' | 'wait'

/** The task and the step of it that wait for another; `ordinal`: as one of a batch. */
export interface Parent {
  task: string
  step: number
  ordinal?: number
  /** It waits for the task's end, as it does for a batch's children. */
  awaits?: true
  /** Tasks that wait for the parent's own end, the nearest first. */
  above?: string[]
}

/** Whose a task or a request is, among those who share a line. */
export interface Share {
  /** At most 200 characters, none of them a control character. */
  readonly key: string
  /** How much more of what is shared that gets than those of weight 1: 0.01 to 100. */
  readonly weight: number
}

/** The order in which a task was submitted. */
export interface Submission {
  workflow: string
  version: string
  input: Json
  startAt?: number
  startBefore?: number
  completeBy?: number
  priority?: number
  tags?: Record<string, string>
  /** Whose it is in the line of ready tasks; so are the tasks it starts. */
  share?: Share
  /** For its steps, and for the tasks it starts. */
  metadata?: Readonly<Record<string, string>>
  /** Locks it must have to begin, and keeps until it stops. */
  exclusive?: { key: string; ifHeld: IfHeld }[]
  /** Tasks that must have stopped first; `success`: and must have succeeded. */
  after?: { task: string; on: 'success' | 'end' }[]
  /** It does not begin before it is thawed. */
  frozen?: true
  parent?: Parent
  hooks?: HookOrder[]
  /** Where secrets are in its input and output. */
  secrets?: string[]
  /** Texts in its input and metadata that are secret in the task that started it. Never shown. */
  secretTexts?: string[]
  /**
   * Tells this task from others that had its id before or will have it after: part of its children's ids. Empty where the id of the task has
   * that of its parent's incarnation in it. The store gives it with the submission.
   */
  incarnation?: string
}

/** Most of those above that a task knows: who stands higher up is not seen by a search for circles. */
const MOST_PARENTS = 32

/** The tasks that wait for the end of a task with this parent, the nearest first. */
export function waitingParents({ task, ordinal, awaits, above = [] }: Parent): string[] {
  return awaits || ordinal !== undefined ? [task, ...above].slice(0, MOST_PARENTS) : []
}

/** A workflow that runs when the task comes into one of these states, as the submission records it. */
export interface HookOrder {
  /** States, and results that it stops with. */
  on: readonly string[]
  workflow: string
  version: string
}
