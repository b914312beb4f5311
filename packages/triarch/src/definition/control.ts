import { checkText } from '../value/text.ts'

/**
 * The reason and name that accompany a request to a task from outside. They are kept in the task's history, and shown by `task.history()`
 * and, for a pause, by `status()` and `explain()`.
 * @example await task.resume({ reason: 'the bank is back', actor: 'ada@example.com' })
 */
export interface ControlOptions {
  /** Why: up to 10,000 characters; nothing. */
  reason?: string
  /** Who asks: up to 200 characters; not given. */
  actor?: string
}

/** The names of both options. */
export const controlKeys = ['reason', 'actor'] as const

/** Largest numbers of characters of a reason, and of an actor. */
const LONGEST_REASON = 10_000
const LONGEST_ACTOR = 200

/** The given options, checked. Throws INVALID_OPTION. */
export function checkControl(what: string, { reason, actor }: ControlOptions): ControlOptions {
  return {
    ...(reason !== undefined && { reason: checkText(`${what}: reason`, reason, LONGEST_REASON) }),
    ...(actor !== undefined && { actor: checkText(`${what}: actor`, actor, LONGEST_ACTOR) }),
  }
}
