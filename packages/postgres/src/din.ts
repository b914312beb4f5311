import type { Environment } from 'triarch/store'

/** The first version that wakes only who listens to the channel. */
const SELECTIVE = 19
/** Where fewer listen, to be told at once is worth what it costs. */
const CROWD = 20
/** How often somebody says how much it says, and for how long others believe it (ms). */
const SAY = 1_000
const BELIEVE = 4_000

/** What somebody said, and until when it counts. */
interface Voice {
  /** Notifications a second. */
  rate: number
  until: number
}

/**
 * How often a notification is said, by whomever. Up to PostgreSQL 18 each one wakes every session of the database that listens, to
 * whatever: a session that is not meant sees nothing of it, and still spends a transaction. So those who speak in a crowd say how
 * much, with what they say anyway, and all know how often they are woken.
 */
export class Din {
  readonly #environment: Environment
  /** Of which version the server is. */
  server: number = SELECTIVE
  /** By the server's process of its connection. */
  readonly #voices = new Map<number, Voice>()
  #said = 0
  #since = 0

  constructor(environment: Environment) {
    this.#environment = environment
    this.#begin()
  }

  get #elapsed(): number {
    return this.#environment.monotonic() - this.#since
  }

  /** Whether it is time to say how much one says, if many listen. What was said before a silence says nothing of now. */
  get due(): boolean {
    return this.server < SELECTIVE && this.#elapsed >= SAY && this.#elapsed < BELIEVE
  }

  /** One more notification. */
  said(): void {
    this.#said++
    if (this.#elapsed >= BELIEVE) this.#begin()
  }

  /** What to say of oneself with the notification that is about to be sent, and is counted already; null: nothing. */
  rate(listeners: number): number | null {
    const elapsed = this.#elapsed
    if (elapsed < SAY) return null
    const rate = this.due && listeners >= CROWD ? Math.round((this.#said * 10_000) / elapsed) / 10 : null
    this.#begin()
    return rate
  }

  /** To count. */
  #begin(): void {
    this.#said = 0
    this.#since = this.#environment.monotonic()
  }

  /** Of somebody, maybe oneself; what is no rate, somebody else said. */
  heard(process: number, rate: number): void {
    if (!(rate >= 0 && rate < Number.POSITIVE_INFINITY)) return
    this.#voices.set(process, { rate, until: this.#environment.monotonic() + BELIEVE })
  }

  /** Notifications a second, of all. */
  get loudness(): number {
    const now = this.#environment.monotonic()
    let all = 0
    for (const [process, { rate, until }] of this.#voices) {
      if (until > now) all += rate
      else this.#voices.delete(process)
    }
    return all
  }
}
