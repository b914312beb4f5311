import type { ParentPolicy } from '../task/order.ts'

/**
 * What becomes of a child under an id of its own that its parent started before, in an earlier run or before it was undone: it begins
 * anew once it has stopped (`renew`); it is taken as it is, running or stopped, if its input is the same (`match`) or whatever its
 * input (`return`); or it is in the way (`reject`).
 */
export type IfChildExists = 'renew' | 'match' | 'return' | 'reject'

export interface Child {
  id: number
  task: string
  workflow: string
  mode: 'call' | 'start'
  onCancel: ParentPolicy
  undo: boolean
  /** It may be there from before, and answers that itself. */
  asked?: true
  status: 'running' | 'stopped' | 'compensating'
  succeeded: boolean
  requestedAt: number
  completedAt: number
}

/** What the ids of all that a task starts are made of. `incarnation`: of its submission; '' where the id of the task has one already. */
export interface Ancestor {
  id: string
  incarnation: string
}

/** Stands in ids that the engine makes, and in none that users give. */
export const SEPARATOR = '~'

/**
 * The id of what a task starts: of its `incarnation`, so that nothing a task of the same id started before is in its way.
 */
export function childTaskId({ id, incarnation }: Ancestor, place: string | number): string {
  return [id, ...(incarnation === '' ? [] : [incarnation]), place].join(SEPARATOR)
}

/** A child that the store did not make, as data: another task has its id, or a lock that it was not to wait for. */
export type RefusedChild = { child: string } & (
  | { code: 'TASK_EXISTS' }
  | { code: 'LOCK_HELD'; lock: string; by: string }
)
