import { checkText } from '../value/text.ts'

/**
 * What is said of anything that is asked of a task from outside: kept in its history, and shown by `task.history()`, and of a pause by `status()` and
 * `explain()`.
 * @example await task.resume({ reason: 'the bank is back', actor: 'ada@example.com' })
 */
export interface ControlOptions {
  /** Why: up to 10,000 characters; nothing. */
  reason?: string
  /** Who asks: up to 200 characters; nobody is named. */
  actor?: string
}

/** The names of both. */
export const controlKeys = ['reason', 'actor'] as const

/** Characters of a reason, and of the name of who asks. */
const LONGEST_REASON = 10_000
const LONGEST_ACTOR = 200

/** Both, as far as they are given. Throws INVALID_OPTION. */
export function checkControl(what: string, { reason, actor }: ControlOptions): ControlOptions {
  return {
    ...(reason !== undefined && { reason: checkText(`${what}: reason`, reason, LONGEST_REASON) }),
    ...(actor !== undefined && { actor: checkText(`${what}: actor`, actor, LONGEST_ACTOR) }),
  }
}
