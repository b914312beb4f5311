import type { Environment } from 'triarch/store'

/** With notifications, the nodes of a fleet together poll about once in this time (ms); each node within these bounds. */
const SHARE = 3_000
const LEAST_WITH_HINTS = 500
const MOST_WITH_HINTS = 60_000
/** Without notifications, the interval between two polls (ms): doubled with each that finds nothing. */
const SLOWEST_ALONE = 200
const FASTEST = 5

/**
 * When to poll the store without a notification. With notifications that is seldom: they are lost only with their
 * connection, and the leader notifies again of what no node took. The more nodes there are, the less often each polls,
 * so that a large idle fleet causes as little load as a small one. Without notifications, often while polls find
 * something, and less often the longer they do not.
 */
export class PollInterval {
  readonly #environment: Environment
  /** Living nodes, as of the last poll. */
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

  /** A poll found something: there may be more. */
  found(): void {
    this.#distance = FASTEST
  }

  /** A number that changes when it is time to poll. `hints`: whether notifications are received. */
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

  /** Random each time, so that nodes that started together do not poll together. */
  get #share(): number {
    const fair = Math.min(Math.max(SHARE * this.living, LEAST_WITH_HINTS), MOST_WITH_HINTS)
    return fair * (0.75 + this.#lot / 2)
  }
}
