import { delay, type Environment } from 'triarch/store'
import { isBlocked } from './failure.ts'

/** Calls that are retried at a time: each holds a connection for as long as it waits for locked rows. */
const WIDTH = 2
const FIRST_WAIT = 20
const LONGEST_WAIT = 500

/**
 * Calls that a user's transaction blocks wait here, without a connection of the pool and without holding up other calls.
 */
export class BlockedCalls {
  readonly #environment: Environment
  readonly #waiting: (() => void)[] = []
  #free = WIDTH

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Tries at once, and again for at most `limit` ms while it is blocked. */
  async run<T>(limit: number, attempt: () => Promise<T>): Promise<T> {
    const until = this.#environment.monotonic() + limit
    for (let wait = 0; ; wait = Math.min(Math.max(wait * 2, FIRST_WAIT), LONGEST_WAIT)) {
      try {
        return wait === 0 ? await attempt() : await this.#inLine(attempt)
      } catch (error) {
        if (!isBlocked(error) || this.#environment.monotonic() >= until) throw error
      }
      const longer = Math.max(wait, FIRST_WAIT)
      await delay(this.#environment, longer / 2 + (longer / 2) * this.#environment.random())
    }
  }

  async #inLine<T>(attempt: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await attempt()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
