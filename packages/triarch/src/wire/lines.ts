import type { LogSink, LogSource } from '../agent/log.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { parseLine } from '../store/line.ts'
import type { LogEntry, StepRequest } from '../store/port.ts'
import { logLevels } from '../value/level.ts'
import type { AgentMessage, RemoteLine } from './message.ts'

type LogMessage = Extract<AgentMessage, { type: 'log' }>

/** Lines are sent this long after the first of them was written, or with their attempt's answer (ms). */
const GATHER = 1_000
/** Most lines of one request, and their bytes. */
const PORTION = { lines: 500, bytes: 256 * 1024 }
/** Most lines kept until their attempt's answer is acknowledged; beyond that, the oldest that were sent are dropped. */
const MOST = { lines: 10_000, bytes: 4 * 1024 * 1024 }

interface AttemptLines {
  entries: LogEntry[]
  /** How many of them were sent on this connection. */
  said: number
}

/**
 * The log lines of an agents' process until its server has them. They are sent again on another connection and recognised by their
 * numbers.
 */
export class Lines implements LogSink {
  readonly #environment: Environment
  readonly #urge: () => void
  readonly #names = new WeakMap<StepRequest, string>()
  readonly #attempts = new Map<string, AttemptLines>()
  #lines = 0
  #bytes = 0
  #timer: Timer | null = null
  #due = false

  constructor(environment: Environment, urge: () => void) {
    this.#environment = environment
    this.#urge = urge
  }

  /** The name under which the server knows the attempt. */
  name(request: StepRequest, name: string): void {
    this.#names.set(request, name)
  }

  source(request: StepRequest): LogSource {
    const name = this.#names.get(request) ?? ''
    return { put: (entry) => this.#put(name, entry) }
  }

  #put(name: string, entry: LogEntry): boolean {
    while (this.#lines >= MOST.lines || this.#bytes >= MOST.bytes) if (!this.#forgetOne()) return false
    const attempt = this.#attempts.get(name) ?? { entries: [], said: 0 }
    this.#attempts.set(name, attempt)
    attempt.entries.push(entry)
    this.#lines++
    this.#bytes += entry.text.length
    this.#timer ??= this.#environment.timer(GATHER, () => {
      this.#timer = null
      this.#due = true
      this.#urge()
    })
    this.#timer.unref?.()
    return true
  }

  #forgetOne(): boolean {
    for (const attempt of this.#attempts.values()) {
      if (attempt.said === 0) continue
      attempt.said--
      this.#lines--
      this.#bytes -= attempt.entries.shift()?.text.length ?? 0
      return true
    }
    return false
  }

  /** Whether lines are to be sent now. There may be none left if their attempts were acknowledged meanwhile. */
  get due(): boolean {
    return this.#due && this.#lines > 0
  }

  /** The lines to send now; first those of attempts whose answers go out. */
  messages(ended: Iterable<string>): LogMessage[] {
    if (this.#lines === 0) return NOTHING
    let { lines: room, bytes } = PORTION
    const messages: LogMessage[] = []
    for (const name of new Set([...ended, ...this.#attempts.keys()])) {
      const attempt = this.#attempts.get(name)
      if (!attempt || attempt.said === attempt.entries.length) continue
      if (room <= 0 || bytes <= 0) return messages
      const lines: RemoteLine[] = []
      for (const entry of attempt.entries.slice(attempt.said, attempt.said + room)) {
        if (bytes <= 0) break
        bytes -= entry.text.length
        lines.push(this.#line(entry))
      }
      attempt.said += lines.length
      room -= lines.length
      messages.push({ type: 'log', attempt: name, lines })
    }
    this.#due = false
    return messages
  }

  #line({ n, at, level, text }: LogEntry): RemoteLine {
    const { message, fields, dropped } = parseLine(text)
    return {
      ...{ n, ago: Math.max(0, this.#environment.now() - at), level: logLevels[level] ?? 'info', message },
      ...(fields !== undefined && { fields }),
      ...(dropped !== undefined && { dropped }),
    }
  }

  /** The attempt's answer is durable or counts for nothing: drops its lines. */
  forget(name: string): void {
    const attempt = this.#attempts.get(name)
    if (!attempt) return
    this.#attempts.delete(name)
    this.#lines -= attempt.entries.length
    for (const { text } of attempt.entries) this.#bytes -= text.length
  }

  disconnected(): void {
    for (const attempt of this.#attempts.values()) attempt.said = 0
    this.#due = this.#lines > 0
  }
}

const NOTHING: LogMessage[] = []
