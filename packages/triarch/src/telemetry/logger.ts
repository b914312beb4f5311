import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { type LogLevel, logLevels, rankOf } from '../value/level.ts'
import type { TelemetryEvents, TelemetryName } from './catalogue.ts'
import { guarded } from './guarded.ts'
import { type FormattedLine, formatLine, levelOf, worstOf } from './line.ts'

/**
 * The receiver of the engine's log lines: `console`, or a logger such as pino. If it has `child`, it is called like pino, with fields and a
 * message; otherwise with one string of JSON.
 * @example const logger: Logger = console
 */
export interface Logger {
  /** Takes a line that helps with debugging. */
  readonly debug: (...line: never[]) => unknown
  /** Takes a line about normal operation. */
  readonly info: (...line: never[]) => unknown
  /** Takes a line about something that needs attention. */
  readonly warn: (...line: never[]) => unknown
  /** Takes a line about an error. */
  readonly error: (...line: never[]) => unknown
  /** Its presence means that the logger is called like pino. */
  readonly child?: unknown
}

/** Largest number of lines that wait for the logger; further ones are dropped and counted. */
const MOST_WAITING = 1_000
/**
 * The logger is called for at most this long at a time (ms), followed by a pause REST times as long, so that a slow logger takes a tenth of
 * the event loop.
 */
const SLICE = 5
const REST = 9
/** Time for the waiting lines when the node stops (ms). */
const LAST = 100

type Write = (line: FormattedLine) => void

/** Converts telemetry to lines for a user's logger. The logger is called later than the event, and never for long at a time. */
export class Log {
  level: LogLevel | 'silent'
  readonly #environment: Environment
  readonly #write: Write
  readonly #waiting: FormattedLine[] = []
  #dropped = 0
  #timer: Timer | null = null

  /** `failed` gets the errors of the logger. */
  constructor(logger: Logger, level: LogLevel | 'silent', environment: Environment, failed: (error: unknown) => void) {
    this.level = level
    this.#environment = environment
    this.#write = guarded(writerOf(logger), failed)
  }

  /** Whether an event of this name can become a line. */
  wants(name: TelemetryName): boolean {
    return rankOf(worstOf(name)) >= rankOf(this.level)
  }

  tell<N extends TelemetryName>(name: N, event: TelemetryEvents[N]): void {
    if (rankOf(levelOf(name, event)) < rankOf(this.level)) return
    if (this.#waiting.length >= MOST_WAITING) this.#dropped++
    else this.#waiting.push(formatLine(name, event))
    this.#arm(0)
  }

  /** Writes the waiting lines at the end. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#pass(LAST)
  }

  #arm(ms: number): void {
    if (this.#timer) return
    this.#timer = this.#environment.timer(ms, () => {
      this.#timer = null
      const spent = this.#pass(SLICE)
      if (this.#waiting.length > 0) this.#arm(Math.ceil(spent * REST))
    })
    this.#timer.unref?.()
  }

  #pass(within: number): number {
    const began = this.#environment.monotonic()
    let spent = 0
    CallContext.none.run(() => {
      while (this.#waiting.length > 0 && spent < within) {
        for (const line of this.#waiting.splice(0, 1)) this.#write(line)
        spent = this.#environment.monotonic() - began
      }
      if (this.#dropped === 0 || this.#waiting.length > 0) return
      const dropped = this.#dropped
      this.#dropped = 0
      this.#write({ level: 'warn', message: 'lines were dropped: the logger is too slow', fields: { dropped } })
    })
    return spent
  }
}

function writerOf(logger: Logger): (line: FormattedLine) => unknown {
  const calls = logger as unknown as Record<LogLevel, (...line: unknown[]) => unknown>
  if (typeof logger.child === 'function') return ({ level, message, fields }) => calls[level](fields, message)
  return ({ level, message, fields }) => {
    const { at, ...rest } = fields
    const time = typeof at === 'number' ? { time: new Date(at).toISOString() } : {}
    return calls[level](JSON.stringify({ ...time, level, message, ...rest }))
  }
}

/** Checks the logger. Throws INVALID_OPTION. */
export function checkLogger(what: string, given: Logger | undefined): Logger | null {
  if (given === undefined) return null
  const calls = given as unknown as Partial<Record<LogLevel, unknown>> | null
  const missing = logLevels.find((level) => typeof calls?.[level] !== 'function')
  if (missing !== undefined)
    throw new TriarchError('INVALID_OPTION', `${what} must have the methods ${logLevels.join(', ')}`)
  return given
}

/** Checks the level. Throws INVALID_OPTION. */
export function checkLogLevel(what: string, given: unknown): LogLevel | 'silent' {
  const known: readonly unknown[] = [...logLevels, 'silent']
  if (!known.includes(given)) throw new TriarchError('INVALID_OPTION', `${what} must be one of ${known.join(', ')}`)
  return given as LogLevel | 'silent'
}
