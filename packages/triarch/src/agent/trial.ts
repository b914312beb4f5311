import type { Environment } from '../environment/environment.ts'

/** How long a process must have lived before it tries a step that may have killed others (ms): so long it lives without it. */
export const AGE = 2_000
/** A process that lives on for so long after the step began did not die of it at once (ms). */
export const SURVIVED = 1_000
/** The longest wait for one's turn (ms). */
const LONGEST = 5_000
/** How many are tried together while no process died soon after it began to try one of them. */
const TOGETHER = 8

/**
 * Where one process tries steps that were lost with theirs time and again: a few at a time, and one whose process died when it
 * was tried only by itself, so that what kills is told from what was killed beside it. Everything else runs on meanwhile.
 */
export class Dock {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #born: number
  /** What is tried now, and since when. */
  readonly #inside = new Map<object, number>()
  /** Nothing may be tried beside what is. */
  #closed = false
  /** Until then turns are given away. */
  #booked: number
  /** Until then nobody joins: one that must be by itself comes again. */
  #kept = 0
  /** How long one takes (ms): as the last ones did. */
  #turn = SURVIVED / 10

  constructor(environment: Pick<Environment, 'monotonic'>) {
    this.#environment = environment
    this.#born = environment.monotonic()
    this.#booked = this.#born
  }

  /** Takes a place for this attempt, after so many deaths of processes that tried it: null. Otherwise, when to ask again (ms). */
  enter(attempt: object, strikes: number): number | null {
    const now = this.#environment.monotonic()
    const young = this.#born + AGE - now
    const alone = strikes > 0
    const room = alone ? 1 : TOGETHER
    if (young <= 0 && !this.#closed && this.#inside.size < room && (alone || now >= this.#kept)) {
      this.#inside.set(attempt, now)
      this.#closed = alone
      return null
    }
    const next = Math.max(this.#booked, now + Math.max(young, 0)) + this.#turn / room
    this.#booked = Math.min(next, now + LONGEST)
    // Not for longer each time: those that may be tried together have their turns between.
    if (alone && now >= this.#kept) this.#kept = this.#booked + this.#turn
    return Math.ceil(this.#booked - now)
  }

  /** The attempt is over, or went on for long enough; not `tried`, it never began. False: it was not there any more. */
  leave(attempt: object, tried = true): boolean {
    const since = this.#inside.get(attempt)
    if (since === undefined) return false
    this.#inside.delete(attempt)
    this.#closed = false
    if (!tried) return true
    const took = this.#environment.monotonic() - since
    this.#turn = Math.max(1, (this.#turn + Math.min(took, SURVIVED)) / 2)
    return true
  }
}
