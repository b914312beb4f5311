import type { Environment } from '../environment/environment.ts'

/** The least age of a process that tries a step that may have killed others: so that it is known to live without it. */
export const MIN_PROCESS_AGE_MS = 2_000
/** A process that is alive so long after the step began was not killed by its beginning. */
export const SURVIVED_AFTER_MS = 1_000
/** The longest wait before an attempt asks again. */
const MAX_WAIT_MS = 5_000
/** Attempts on probation at a time, of steps that no process died of while they were on probation. */
const MAX_TOGETHER = 8

/**
 * Slots for attempts on probation: of steps whose process died more than once while they ran. A few run at a time. A step whose process died while it
 * was on probation runs with no other step on probation beside it, so that the step that kills is told from those that died with it. Other steps
 * are not concerned.
 */
export class Probation {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #born: number
  /** Attempts on probation, and when each began. */
  readonly #inside = new Map<object, number>()
  /** The attempt on probation must be the only one. */
  #closed = false
  /** Slots are promised until this instant. */
  #booked: number
  /** No attempt begins before this instant, because one that must be the only one asks again then. */
  #kept = 0
  /** How long an attempt takes (ms): a moving average of the last ones. */
  #turn = SURVIVED_AFTER_MS / 10

  constructor(environment: Pick<Environment, 'monotonic'>) {
    this.#environment = environment
    this.#born = environment.monotonic()
    this.#booked = this.#born
  }

  /** Gives this attempt a slot and returns null, or returns when to ask again (ms). `strikes`: processes that died while they tried the step on probation. */
  enter(attempt: object, strikes: number): number | null {
    const now = this.#environment.monotonic()
    const young = this.#born + MIN_PROCESS_AGE_MS - now
    const alone = strikes > 0
    const room = alone ? 1 : MAX_TOGETHER
    if (young <= 0 && !this.#closed && this.#inside.size < room && (alone || now >= this.#kept)) {
      this.#inside.set(attempt, now)
      this.#closed = alone
      return null
    }
    const next = Math.max(this.#booked, now + Math.max(young, 0)) + this.#turn / room
    this.#booked = Math.min(next, now + MAX_WAIT_MS)
    // Not extended each time, so that those that may run together get slots in between.
    if (alone && now >= this.#kept) this.#kept = this.#booked + this.#turn
    return Math.ceil(this.#booked - now)
  }

  /** The attempt is over, or has run for long enough. `tried` is false for one that never began. Returns false if it had no slot. */
  leave(attempt: object, tried = true): boolean {
    const since = this.#inside.get(attempt)
    if (since === undefined) return false
    this.#inside.delete(attempt)
    this.#closed = false
    if (!tried) return true
    const took = this.#environment.monotonic() - since
    this.#turn = Math.max(1, (this.#turn + Math.min(took, SURVIVED_AFTER_MS)) / 2)
    return true
  }
}
