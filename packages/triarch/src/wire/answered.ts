import type { Environment } from '../environment/environment.ts'

/** How many leases an answer acknowledged in another session is remembered. */
const LEASES = 2
/** Most answers remembered. */
const MOST = 10_000

/**
 * Attempts whose answers were acknowledged in another session than the one that gave them. The server that gave them may not know of that
 * yet. If a hello did not list them, it would assume that they never arrived, and give them again.
 */
export class AnsweredElsewhere {
  readonly #environment: Environment
  /** The session in which each attempt was given, until its answer is acknowledged. */
  readonly #given = new Map<string, string | null>()
  /** Until when each is remembered (monotonic clock), the oldest first. */
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

  /** The attempts that a hello must list. */
  get names(): string[] {
    const now = this.#environment.monotonic()
    for (const [attempt, until] of this.#until) if (until <= now) this.#until.delete(attempt)
    return [...this.#until.keys()]
  }
}
