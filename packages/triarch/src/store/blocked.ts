import { isTriarchError, type TriarchError } from '../error/error.ts'

/** Whether a call failed because another transaction holds rows that it needs; then nothing was written. */
export function isBlocked(outcome: unknown): outcome is TriarchError {
  if (!isTriarchError(outcome, 'STORE_BUSY')) return false
  const { details } = outcome
  return typeof details === 'object' && details !== null && 'blocked' in details && details.blocked === true
}
