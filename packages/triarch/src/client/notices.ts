import type { Environment } from '../environment/environment.ts'
import type { Alert } from '../kernel/alert.ts'

/** The same cause is told again after this long (ms). */
const AGAIN = 600_000
/** Lines a minute, at most. */
const MOST = 20
/** Causes remembered, at most. */
const CAUSES = 1_000

/**
 * Says on stderr what nobody listens for: one line for each cause, with its code. The same code of the same workflow, step's
 * action or schedule is one cause, however many tasks it stops.
 */
export class Notices {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #write: (line: string) => void
  readonly #causes = new Map<string, { at: number; more: number }>()
  #minute = { at: Number.NEGATIVE_INFINITY, lines: 0 }

  constructor(environment: Pick<Environment, 'monotonic'>, write: (line: string) => void = toStderr) {
    this.#environment = environment
    this.#write = write
  }

  tell(alert: Alert): void {
    const { code, workflow = '', action = '', schedule = '', reason, message, task } = alert
    const cause = [code, workflow, action, schedule, reason].join(' ')
    const now = this.#environment.monotonic()
    const known = this.#causes.get(cause)
    if (known && now - known.at < AGAIN) {
      known.more++
      return
    }
    if (now - this.#minute.at >= 60_000) this.#minute = { at: now, lines: 0 }
    if (this.#minute.lines++ >= MOST) return
    const first = this.#causes.size >= CAUSES ? this.#causes.keys().next().value : undefined
    if (first !== undefined) this.#causes.delete(first)
    this.#causes.delete(cause)
    this.#causes.set(cause, { at: now, more: 0 })
    const about = task === undefined ? '' : `task "${task}": `
    const more = known && known.more > 0 ? ` (and ${known.more} more since it was said last)` : ''
    this.#write(`triarch: ${code}: ${about}${message}${more}`)
  }
}

/** One line, whatever is in it. What stderr makes of it is nobody's concern. */
export function toStderr(line: string): void {
  try {
    process.stderr.write(`${line.replace(/\s*[\r\n]+\s*/g, ' ').slice(0, 1_000)}\n`)
  } catch {
    // There is nobody left to tell.
  }
}
