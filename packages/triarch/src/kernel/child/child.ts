import type { ParentPolicy } from '../task/order.ts'

export interface Child {
  id: number
  task: string
  workflow: string
  mode: 'call' | 'start'
  onCancel: ParentPolicy
  undo: boolean
  status: 'running' | 'stopped' | 'compensating'
  succeeded: boolean
  requestedAt: number
  completedAt: number
}

/** What the ids of all that a task starts are made of. `incarnation`: null, its submission is older than that. */
export interface Ancestor {
  id: string
  incarnation: string | null
}

/** Stands in ids that the engine makes, and in none that users give. */
export const SEPARATOR = '~'

/**
 * The id of what a task starts: of its `incarnation`, so that nothing a task of the same id started before is in its way.
 * Tasks that have none are older than that, and go on as they began.
 */
export function childTaskId({ id, incarnation }: Ancestor, place: string | number): string {
  if (incarnation === null) return `${id}.${place}`
  return [id, ...(incarnation === '' ? [] : [incarnation]), place].join(SEPARATOR)
}

/** A child that the store did not make, as data: another task has its id, or a lock that it was not to wait for. */
export type RefusedChild = { child: string } & (
  | { code: 'TASK_EXISTS' }
  | { code: 'LOCK_HELD'; lock: string; by: string }
)
