import { TriarchError } from '../error/error.ts'

/**
 * A span of time: milliseconds, or a number with its unit, such as `'500ms'`, `'1.5h'`, `'2d'`.
 * @example
 * const patience: Duration = '1.5h'
 * const same: Duration = 5_400_000
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w'}`

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** Longest duration: ten years (ms). */
export const LONGEST_DURATION: number = 10 * 365.25 * 86_400_000

const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/**
 * The duration in whole milliseconds; `what` names it in the error. Throws INVALID_DURATION.
 * @example const patience = milliseconds('1.5h', 'patience')
 */
export function milliseconds(value: Duration, what: string): number {
  const ms = typeof value === 'number' ? value : parse(value)
  if (!(ms >= 0))
    throw invalid(value, what, 'is not a duration: give milliseconds, or a text such as "500ms", "30s", "2d"')
  if (ms > LONGEST_DURATION) throw invalid(value, what, 'is longer than ten years')
  return Math.round(ms) + 0
}

/** Like `milliseconds`, but refuses a duration of zero. */
export function positiveMilliseconds(value: Duration, what: string): number {
  const ms = milliseconds(value, what)
  if (ms === 0) throw invalid(value, what, 'must be longer than 0')
  return ms
}

function parse(value: unknown): number {
  const match = typeof value === 'string' ? pattern.exec(value) : null
  return match === null ? Number.NaN : Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN)
}

function invalid(value: unknown, what: string, problem: string): TriarchError {
  const shown =
    typeof value === 'string' ? JSON.stringify(value.slice(0, 50)) : typeof value === 'number' ? value : typeof value
  return new TriarchError('INVALID_DURATION', `${what}: ${shown} ${problem}`)
}
