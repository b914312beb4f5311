import type { TaskResult } from '../kernel/status.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'

/** How a task can end. */
export const endResults: readonly EndResult[] = ['success', 'warning', 'error', 'cancelled', 'compensated']

/** How a task that has stopped can have ended. */
export type EndResult = Exclude<TaskResult, 'pending'>

/**
 * How long stopped tasks are kept: a duration for all, or one for each result; null: for ever. Results that are not named
 * are kept as if nothing was said.
 * @example const retention: RetentionOption = { success: '30d', error: '52w', cancelled: null }
 */
export type RetentionOption = Duration | null | { readonly [result in EndResult]?: Duration | null }

/** By result, in ms; null: for ever. Absent where nothing is said. */
export type Retention = { readonly [result in EndResult]?: number | null }

/** Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION. */
export function toRetention(option: RetentionOption | undefined, what: string): Retention {
  if (option === undefined) return {}
  if (option === null || typeof option !== 'object') {
    return Object.fromEntries(endResults.map((result) => [result, span(option, what)]))
  }
  checkOptions(what, option, endResults)
  const given = endResults.filter((result) => option[result] !== undefined)
  return Object.fromEntries(given.map((result) => [result, span(option[result] ?? null, `${what}.${result}`)]))
}

function span(value: Duration | null, what: string): number | null {
  return value === null ? null : milliseconds(value, what)
}
