import { type LogFields, type LogWriter, logWriter } from '../definition/log.ts'
import type { Environment } from '../environment/environment.ts'
import type { SecretTexts } from '../kernel/secret.ts'
import { droppedText, lineText } from '../store/line.ts'
import type { LogEntry, StepRequest } from '../store/port.ts'
import { rankOf } from '../value/level.ts'

/** Receives the log lines of attempts. */
export interface LogSink {
  /**
   * A source for one run of the attempt's code. `source`: an id by which lines that arrive twice are recognised; a new one if not given.
   */
  source(request: StepRequest, source?: string): LogSource
}

export interface LogSource {
  /** Returns false if there is no room for the line. */
  put(entry: LogEntry): boolean
}

/** Discards all lines; for hosts without a logbook. */
export const unkept: LogSink = { source: () => ({ put: () => true }) }

/** Rate limit of an attempt's log: lines and bytes at once, and per second. */
export const LOG_RATE: { lines: number; linesPerSecond: number; bytes: number; bytesPerSecond: number } = {
  lines: 1_000,
  linesPerSecond: 20,
  bytes: 256 * 1024,
  bytesPerSecond: 16 * 1024,
}

/** A line that code in another process wrote. */
export interface TakenLine {
  n: number
  at: number
  level: keyof LogWriter
  message: string
  fields: LogFields
  /** How many lines before it were dropped. */
  dropped: number
}

/** The log of one run of an attempt's code, within its rate limit. */
export class AttemptLog {
  readonly writer: LogWriter
  readonly #environment: Environment
  readonly #source: LogSource
  readonly #secrets: () => SecretTexts
  #last = 0
  #dropped = 0
  #lines: number = LOG_RATE.lines
  #bytes: number = LOG_RATE.bytes
  #filledAt: number

  /** `secrets`: texts that no line may contain. */
  constructor(environment: Environment, source: LogSource, secrets: () => SecretTexts) {
    this.#environment = environment
    this.#source = source
    this.#secrets = secrets
    this.#filledAt = environment.monotonic()
    this.writer = logWriter((level, message, fields) => this.#say(level, message, fields))
  }

  /** Takes a line of code in another process, under its number there. */
  take({ n, at, dropped, level, message, fields }: TakenLine): void {
    if (n <= this.#last) return
    this.#dropped += dropped
    this.#put(n, at, level, message, fields)
  }

  #say(level: keyof LogWriter, message: string, fields: LogFields): void {
    this.#put(this.#last + 1, this.#environment.now(), level, message, fields)
  }

  #put(n: number, at: number, level: keyof LogWriter, message: string, fields: LogFields): void {
    this.#last = n
    if (!this.#hasRoom()) return void this.#dropped++
    const text = lineText(message, fields, this.#secrets(), this.#dropped)
    if (!this.#source.put({ n, at, level: rankOf(level), text })) return void this.#dropped++
    this.#dropped = 0
    this.#lines--
    this.#bytes -= text.length
  }

  #hasRoom(): boolean {
    if (this.#lines >= 1 && this.#bytes > 0) return true
    const now = this.#environment.monotonic()
    const seconds = (now - this.#filledAt) / 1_000
    this.#filledAt = now
    this.#lines = Math.min(LOG_RATE.lines, this.#lines + seconds * LOG_RATE.linesPerSecond)
    this.#bytes = Math.min(LOG_RATE.bytes, this.#bytes + seconds * LOG_RATE.bytesPerSecond)
    return this.#lines >= 1 && this.#bytes > 0
  }

  /** The attempt is over: logs how many lines were dropped. */
  end(): void {
    if (this.#dropped === 0) return
    const entry = {
      n: ++this.#last,
      at: this.#environment.now(),
      level: rankOf('warn'),
      text: droppedText(this.#dropped),
    }
    if (this.#source.put(entry)) this.#dropped = 0
  }
}
