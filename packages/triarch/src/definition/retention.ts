import type { TaskOutcome } from '../kernel/status.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'

/** How a task can end. */
export const endOutcomes: readonly EndOutcome[] = ['success', 'warning', 'error', 'cancelled', 'compensated']

/** How a task that has stopped can have ended. */
export type EndOutcome = Exclude<TaskOutcome, 'pending'>

/**
 * How long stopped tasks are kept: a duration for all, or one for each outcome; null: for ever. Outcomes that are not given
 * are kept as by default.
 * @example const retention: RetentionOption = { success: '30d', error: '52w', cancelled: null }
 */
export type RetentionOption = Duration | null | { readonly [outcome in EndOutcome]?: Duration | null }

/** Retention by outcome, in ms; null: for ever. Absent: not given. */
export type Retention = { readonly [outcome in EndOutcome]?: number | null }

/** Checks the option. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION. */
export function toRetention(option: RetentionOption | undefined, what: string): Retention {
  if (option === undefined) return {}
  if (option === null || typeof option !== 'object') {
    return Object.fromEntries(endOutcomes.map((outcome) => [outcome, span(option, what)]))
  }
  checkOptions(what, option, endOutcomes)
  const given = endOutcomes.filter((outcome) => option[outcome] !== undefined)
  return Object.fromEntries(given.map((outcome) => [outcome, span(option[outcome] ?? null, `${what}.${outcome}`)]))
}

function span(value: Duration | null, what: string): number | null {
  return value === null ? null : milliseconds(value, what)
}
