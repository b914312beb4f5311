import type { Environment } from '../environment/environment.ts'

/** For so many leases an answer is remembered that another session acknowledged. */
const LEASES = 2
/** Most that are remembered. */
const MOST = 10_000

/**
 * Attempts whose answers were acknowledged in another session than the one that gave them: that server may not have heard of it yet, and
 * would take what a hello does not name for never heard, and give it once more.
 */
export class AnsweredElsewhere {
  readonly #environment: Environment
  /** In which session each was given, of those that are not acknowledged. */
  readonly #given = new Map<string, string | null>()
  /** Until when each is remembered, by the monotonic clock; the oldest first. */
  readonly #until = new Map<string, number>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  given(attempt: string, session: string | null): void {
    this.#given.set(attempt, session)
  }

  acknowledged(attempt: string, session: string | null, lease: number): void {
    const by = this.#given.get(attempt)
    if (!this.#given.delete(attempt) || by === session) return
    const [oldest] = this.#until.keys()
    if (this.#until.size >= MOST && oldest !== undefined) this.#until.delete(oldest)
    this.#until.set(attempt, this.#environment.monotonic() + LEASES * lease)
  }

  /** Those that a hello names. */
  get names(): string[] {
    const now = this.#environment.monotonic()
    for (const [attempt, until] of this.#until) if (until <= now) this.#until.delete(attempt)
    return [...this.#until.keys()]
  }
}
