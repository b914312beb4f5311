/**
 * Fields of a log line besides its message: any JSON. Errors are recorded as such; values that JSON cannot represent are left out.
 * @example const fields: LogFields = { order: 'o-1', error: new Error('declined') }
 */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Writes lines into the log of a task: `step.log` in an action, `task.log` in a workflow. They are kept with the task and returned by
 * `task.logs()`. Writing a line makes no durable write, waits for nothing, and cannot fail.
 * @example const say = (log: LogWriter) => log.info('charged', { amount: 10 })
 */
export interface LogWriter {
  /**
   * Writes a line that helps with debugging.
   * @example step.log.debug('asked the bank', { attempt: step.attempt })
   */
  debug(message: string, fields?: LogFields): void
  /**
   * Writes a line about normal operation.
   * @example step.log.info('charged', { amount: 10 })
   */
  info(message: string, fields?: LogFields): void
  /**
   * Writes a line about something that needs attention.
   * @example step.log.warn('the bank was slow', { ms: 4_000 })
   */
  warn(message: string, fields?: LogFields): void
  /**
   * Writes a line about an error.
   * @example step.log.error('declined', { error: new Error('no funds') })
   */
  error(message: string, fields?: LogFields): void
}

/** A writer whose methods pass their name as the level. */
export function logWriter(say: (level: keyof LogWriter, message: string, fields: LogFields) => void): LogWriter {
  return {
    debug: (message, fields = {}) => say('debug', message, fields),
    info: (message, fields = {}) => say('info', message, fields),
    warn: (message, fields = {}) => say('warn', message, fields),
    error: (message, fields = {}) => say('error', message, fields),
  }
}
