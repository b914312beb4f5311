import type { Environment } from 'triarch/store'

/** With hints, together the nodes of a fleet look about once in this time (ms); each within these bounds. */
const SHARE = 3_000
const LEAST_WITH_HINTS = 500
const MOST_WITH_HINTS = 60_000
/** Without, the distance between two looks at a store that stays silent (ms): doubled with each that finds nothing. */
const SLOWEST_ALONE = 200
const FASTEST = 5

/**
 * When to look for what others wrote although nobody said so. With hints that is seldom: they get lost only with their
 * connection, and the leader tells again what was not heard. The more nodes there are, the rarer each looks, so that a
 * large fleet at rest is as quiet as a small one. Without hints, often while there is something to find, and less so the
 * longer there is not.
 */
export class PollInterval {
  readonly #environment: Environment
  /** Nodes that live, as far as is known. */
  living = 1
  #distance = FASTEST
  #last: number
  #lot: number
  #count = 0

  constructor(environment: Environment) {
    this.#environment = environment
    this.#last = environment.monotonic()
    this.#lot = environment.random()
  }

  /** Something was found: there may be more. */
  found(): void {
    this.#distance = FASTEST
  }

  /** A number that changes when it is time to look. `hints`: whether others can be heard. */
  count(hints: boolean): number {
    const now = this.#environment.monotonic()
    if (now - this.#last >= (hints ? this.#share : this.#distance)) {
      this.#last = now
      this.#lot = this.#environment.random()
      this.#count++
      this.#distance = Math.min(this.#distance * 2, SLOWEST_ALONE)
    }
    return this.#count
  }

  /** Drawn anew each time: nodes that began together do not look together. */
  get #share(): number {
    const fair = Math.min(Math.max(SHARE * this.living, LEAST_WITH_HINTS), MOST_WITH_HINTS)
    return fair * (0.75 + this.#lot / 2)
  }
}
