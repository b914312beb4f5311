import type { LogFields, LogWriter } from '../../definition/log.ts'
import type { SecretTexts } from '../../kernel/secret.ts'
import { droppedText, lineText } from '../../store/line.ts'
import type { LogEntry } from '../../store/port.ts'
import { rankOf } from '../../value/level.ts'

/** Most lines logged at one instant of the code, and their bytes; further lines are dropped. */
const MOST = 1_000
const MOST_BYTES = 256 * 1024

/**
 * The log lines of a workflow's code. A line is identified by the time of its turn, which the history has, and by its position among the
 * lines of that time, so replayed code logs it under the same number.
 */
export class CodeLog {
  #entries: LogEntry[] = []
  #at = 0
  #place = 0
  #bytes = 0
  #dropped = 0

  say(at: number, level: keyof LogWriter, message: string, fields: LogFields, secrets: SecretTexts): void {
    if (at !== this.#at) this.#begin(at)
    // The last position is kept for the line that says how many were dropped.
    if (this.#place >= MOST - 2 || this.#bytes >= MOST_BYTES) return void this.#dropped++
    const text = lineText(message, fields, secrets)
    this.#bytes += text.length
    this.#entries.push({ n: at * MOST + this.#place++, at, level: rankOf(level), text })
  }

  #begin(at: number): void {
    this.#close()
    this.#at = at
    this.#place = 0
    this.#bytes = 0
  }

  #close(): void {
    if (this.#dropped === 0) return
    const n = this.#at * MOST + MOST - 1
    this.#entries.push({ n, at: this.#at, level: rankOf('warn'), text: droppedText(this.#dropped) })
    this.#dropped = 0
  }

  /** The lines logged since the last call. */
  take(): readonly LogEntry[] | null {
    if (this.#entries.length + this.#dropped === 0) return null
    this.#close()
    const entries = this.#entries
    this.#entries = []
    return entries
  }
}
