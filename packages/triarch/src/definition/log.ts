/**
 * What a line of a log says besides its message: anything that JSON has. Errors are told as such; what JSON cannot have is left out.
 * @example const fields: LogFields = { order: 'o-1', error: new Error('declined') }
 */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Writes lines into the log of a task: `step.log` in an action, `task.log` in a workflow. They are kept with the task, and read by
 * `task.logs()`. Writing one costs nothing durable, waits for nothing, and cannot fail.
 * @example const say = (log: LogWriter) => log.info('charged', { amount: 10 })
 */
export interface LogWriter {
  /**
   * Writes a line that is of use to who looks for something.
   * @example step.log.debug('asked the bank', { attempt: step.attempt })
   */
  debug(message: string, fields?: LogFields): void
  /**
   * Writes a line that says what happens.
   * @example step.log.info('charged', { amount: 10 })
   */
  info(message: string, fields?: LogFields): void
  /**
   * Writes a line that somebody should look at.
   * @example step.log.warn('the bank was slow', { ms: 4_000 })
   */
  warn(message: string, fields?: LogFields): void
  /**
   * Writes a line that something is wrong.
   * @example step.log.error('declined', { error: new Error('no funds') })
   */
  error(message: string, fields?: LogFields): void
}

/** Each level is the name of a method. */
export function logWriter(say: (level: keyof LogWriter, message: string, fields: LogFields) => void): LogWriter {
  return {
    debug: (message, fields = {}) => say('debug', message, fields),
    info: (message, fields = {}) => say('info', message, fields),
    warn: (message, fields = {}) => say('warn', message, fields),
    error: (message, fields = {}) => say('error', message, fields),
  }
}
