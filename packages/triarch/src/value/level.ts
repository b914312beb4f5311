/**
 * How much a line of a log matters.
 * @example const level: LogLevel = 'warn'
 */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** From the least to the most. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Higher: it matters more. */
export function rankOf(level: LogLevel | 'silent'): number {
  return level === 'silent' ? logLevels.length : logLevels.indexOf(level)
}
