import { isTriarchError, type TriarchError } from '../error/error.ts'

/** Nothing was written, for somebody holds rows that something in the call needs. */
export function isBlocked(outcome: unknown): outcome is TriarchError {
  if (!isTriarchError(outcome, 'STORE_BUSY')) return false
  const { details } = outcome
  return typeof details === 'object' && details !== null && 'blocked' in details && details.blocked === true
}
