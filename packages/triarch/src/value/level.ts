/**
 * The level of a log line.
 * @example const level: LogLevel = 'warn'
 */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** From the lowest to the highest level. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The rank of a level; a higher rank is more important. */
export function rankOf(level: LogLevel | 'silent'): number {
  return level === 'silent' ? logLevels.length : logLevels.indexOf(level)
}
