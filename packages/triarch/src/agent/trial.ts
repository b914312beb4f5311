import type { Environment } from '../environment/environment.ts'

/** How long a process must have lived before it tries a step that may have killed others (ms): so long it lives without it. */
const AGE = 2_000
/** A process that lives on for so long after the step began did not die of it at once (ms). */
export const SURVIVED = 1_000
/** The longest wait for one's turn (ms). */
const LONGEST = 5_000

/**
 * Where one process tries steps that were lost with theirs time and again: one at a time, so that what kills is told from what
 * was killed beside it. Everything else runs on meanwhile.
 */
export class Dock {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #born: number
  #taken: object | null = null
  #since = 0
  /** Until then turns are given away. */
  #booked: number
  /** How long one takes (ms): as the last ones did. */
  #turn = SURVIVED / 10

  constructor(environment: Pick<Environment, 'monotonic'>) {
    this.#environment = environment
    this.#born = environment.monotonic()
    this.#booked = this.#born
  }

  /** Takes it for this attempt: null. Otherwise, when to ask again (ms). */
  enter(attempt: object): number | null {
    const now = this.#environment.monotonic()
    const young = this.#born + AGE - now
    if (young <= 0 && this.#taken === null) {
      this.#taken = attempt
      this.#since = now
      return null
    }
    this.#booked = Math.min(Math.max(this.#booked, now + Math.max(young, 0)) + this.#turn, now + LONGEST)
    return Math.ceil(this.#booked - now)
  }

  /** The attempt is over, or went on for long enough. False: it was not there any more. */
  leave(attempt: object): boolean {
    if (this.#taken !== attempt) return false
    this.#taken = null
    const took = this.#environment.monotonic() - this.#since
    this.#turn = Math.max(1, (this.#turn + Math.min(took, SURVIVED)) / 2)
    return true
  }
}
