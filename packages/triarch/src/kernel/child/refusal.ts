import type { ErrorRecord } from '../json.ts'
import type { RefusedChild } from './child.ts'

/** The error for a lock that another task holds and that was not to be waited for. */
export function childLockHeld(lock: string, by: string[]): ErrorRecord {
  const message = `lock "${lock}" is held by task ${by.map(quoted).join(', ')}`
  return { name: 'TriarchError', code: 'LOCK_HELD', message, details: { lock, by } }
}

/** Why a child was not created, as the error of the step that requested it. */
export function childRefused(refused: RefusedChild): ErrorRecord {
  if (refused.code === 'LOCK_HELD') return childLockHeld(refused.lock, [refused.by])
  const message = `task ${quoted(refused.child)} exists already`
  return { name: 'TriarchError', code: 'TASK_EXISTS', message, details: { task: refused.child } }
}

export function quoted(task: string): string {
  return `"${task}"`
}
