import type { Environment } from '../environment/environment.ts'
import type { Alert } from '../kernel/alert.ts'
import { andMore, RepeatSuppression } from './repeat-suppression.ts'

/** The same cause is reported again after this long (ms). */
const AGAIN = 600_000
/** Most lines per minute. */
const MOST = 20

/**
 * Writes alerts without a listener to stderr: one line for each cause, with its code. The same code for the same workflow, action or
 * schedule is one cause, however many tasks it stops.
 */
export class Warnings {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #write: (line: string) => void
  readonly #suppression: RepeatSuppression
  #minute = { at: Number.NEGATIVE_INFINITY, lines: 0 }

  constructor(environment: Pick<Environment, 'monotonic'>, write: (line: string) => void = toStderr) {
    this.#environment = environment
    this.#write = write
    this.#suppression = new RepeatSuppression(environment, AGAIN)
  }

  tell(alert: Alert): void {
    const { code, workflow = '', action = '', schedule = '', cause, message, task } = alert
    const more = this.#suppression.next([code, workflow, action, schedule, cause].join(' '), () => this.#isFull())
    if (more === null) return
    const about = task === undefined ? '' : `task "${task}": `
    this.#write(`triarch: ${code}: ${about}${message}${andMore(more)}`)
  }

  #isFull(): boolean {
    const now = this.#environment.monotonic()
    if (now - this.#minute.at >= 60_000) this.#minute = { at: now, lines: 0 }
    return this.#minute.lines++ >= MOST
  }
}

/** Writes one line, whatever characters it has. Errors of stderr are ignored. */
export function toStderr(line: string): void {
  try {
    process.stderr.write(`${line.replace(/\s*[\r\n]+\s*/g, ' ').slice(0, 1_000)}\n`)
  } catch {
    // There is no other place to report to.
  }
}
