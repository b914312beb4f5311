import type { Environment } from 'triarch/store'

/** Distance between two looks at a store that stays silent (ms): doubled with each that finds nothing. */
const SLOWEST_WITH_HINTS = 500
const SLOWEST_ALONE = 200
const FASTEST = 5

/**
 * When to look for what others wrote although nobody said so. With hints that is seldom: they get lost only with their
 * connection. Without, often while there is something to find, and less so the longer there is not.
 */
export class Pace {
  readonly #environment: Environment
  readonly #fastest: number
  readonly #slowest: number
  #distance: number
  #last: number
  #count = 0

  constructor(environment: Environment, hints: boolean) {
    this.#environment = environment
    this.#slowest = hints ? SLOWEST_WITH_HINTS : SLOWEST_ALONE
    this.#fastest = hints ? SLOWEST_WITH_HINTS : FASTEST
    this.#distance = this.#fastest
    this.#last = environment.monotonic()
  }

  /** Something was found: there may be more. */
  found(): void {
    this.#distance = this.#fastest
  }

  /** A number that changes when it is time to look. */
  count(): number {
    const now = this.#environment.monotonic()
    if (now - this.#last >= this.#distance) {
      this.#last = now
      this.#count++
      this.#distance = Math.min(this.#distance * 2, this.#slowest)
    }
    return this.#count
  }
}
