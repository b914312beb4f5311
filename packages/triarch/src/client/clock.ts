import type { Environment, Timer } from '../environment/environment.ts'
import type { StateStore } from '../store/port.ts'

/**
 * The environment, with the store's clock: instants that one node writes and another reads must come from one clock, and
 * that of a shared store is its server's. The clock of this machine is set right by what the store says.
 */
export class StoreClock implements Environment {
  readonly random: () => number
  readonly #own: Environment
  #ahead = 0

  constructor(own: Environment) {
    this.#own = own
    this.random = own.random
  }

  /** Asks the store for the time. What lies between question and answer is as good as right. */
  async set(store: Pick<StateStore, 'now'>): Promise<void> {
    const asked = this.#own.now()
    const time = await store.now()
    const answered = this.#own.now()
    this.#ahead = time < asked ? time - asked : time > answered ? time - answered : 0
  }

  now(): number {
    return this.#own.now() + this.#ahead
  }

  monotonic(): number {
    return this.#own.monotonic()
  }

  timer(ms: number, callback: () => void): Timer {
    return this.#own.timer(ms, callback)
  }

  soon(callback: () => void): void {
    this.#own.soon(callback)
  }

  drain(callback: () => void): void {
    this.#own.drain(callback)
  }

  id(): string {
    return this.#own.id()
  }
}
