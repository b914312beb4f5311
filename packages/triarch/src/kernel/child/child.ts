import type { ParentPolicy } from '../task/order.ts'

/**
 * What happens to a child with an id of its own that its parent started before, in an earlier run or before it was undone. `renew`: a child
 * that has stopped begins anew, one that runs is taken over if its input is the same. `match`: the child is taken over, running or stopped,
 * if its input is the same. `return`: it is taken over whatever its input. `reject`: it is in the way.
 */
export type IfChildExists = 'renew' | 'match' | 'return' | 'reject'

export interface Child {
  id: number
  task: string
  workflow: string
  mode: 'call' | 'start'
  onCancel: ParentPolicy
  undo: boolean
  /** The child may have existed before; it was asked and answers itself. */
  asked?: true
  status: 'running' | 'stopped' | 'compensating'
  succeeded: boolean
  requestedAt: number
  completedAt: number
}

/**
 * The data from which the ids of a task's children are made. `incarnation`: as in its submission; '' if the task's id contains an
 * incarnation already.
 */
export interface Ancestor {
  id: string
  incarnation: string
}

/** Used in ids that the engine makes; ids given by users cannot contain it. */
export const SEPARATOR = '~'

/**
 * The id of a child or hook task. It contains the parent's `incarnation`, so that it differs from the children of an earlier task with the
 * parent's id.
 */
export function childTaskId({ id, incarnation }: Ancestor, place: string | number): string {
  return [id, ...(incarnation === '' ? [] : [incarnation]), place].join(SEPARATOR)
}

/** Why the store did not create a child, as data: another task has its id, or a lock for which it was not to wait. */
export type RefusedChild = { child: string } & (
  | { code: 'TASK_EXISTS' }
  | { code: 'LOCK_HELD'; lock: string; by: string }
)
