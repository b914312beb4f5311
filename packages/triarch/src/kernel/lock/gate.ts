import type { ErrorRecord } from '../json.ts'
import type { TaskState } from '../state.ts'
import type { TaskLock } from './lock.ts'

/** The highest fencing number of the locks that the task holds. A guarded resource treats it as the number of its own lock. */
export function fenceOf(state: TaskState): number | undefined {
  let highest: number | undefined
  for (const { standing, fence } of state.locks.values())
    if (standing === 'held' && fence !== undefined && fence > (highest ?? 0)) highest = fence
  return highest
}

/** The locks of the task's submission, which it must hold to begin. */
export function keysOf(state: TaskState): TaskLock[] {
  return [...state.locks].flatMap(([id, lock]) => (id <= 0 ? [lock] : []))
}

/** Locks that the task must get back before anything goes on. */
export function missingLocks(state: TaskState): TaskLock[] {
  const gone = new Set<TaskLock['standing']>(['lost', 'reclaimed', 'refused'])
  return [...state.locks.values()].filter(({ standing }) => gone.has(standing))
}

/** Whether only a message can let the task begin. */
export function isGated(state: TaskState): boolean {
  if (state.begun || state.closing || state.status === 'stopped') return false
  return state.frozen || awaited(state).length > 0 || keysOf(state).some(({ standing }) => standing === 'asked')
}

/** The predecessors that have not stopped. */
export function awaited(state: TaskState): string[] {
  return [...state.predecessors].flatMap(([task, { result }]) => (result === null ? [task] : []))
}

/** Why the task cannot follow its predecessors; null: it can. */
export function failedPredecessor(state: TaskState): ErrorRecord | null {
  for (const [task, { on, result }] of state.predecessors) {
    if (on === 'end' || result === null || result === 'success' || result === 'warning') continue
    const how = result === 'unknown' ? 'is not known (any more)' : `ended as ${result}`
    const message = `task "${task}", which this one comes after, ${how}`
    return { name: 'TriarchError', code: 'PREDECESSOR_FAILED', message, details: { task, result } }
  }
  return null
}
