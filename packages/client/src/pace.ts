import type { Exchange } from './exchange.ts'

/** Between two requests that the server did not make wait (ms): the first, and the longest. */
const UNHURRIED = [100, 5_000] as const

/** Requests that wait at the server, one after the other. One that has no room to let them wait is not asked in a hurry. */
export class Pace {
  readonly #exchange: Exchange
  readonly #signal: AbortSignal | undefined
  #rest = 0

  constructor(exchange: Exchange, signal: AbortSignal | undefined) {
    this.#exchange = exchange
    this.#signal = signal
  }

  async next<T>(wait: number, ask: () => Promise<T>): Promise<T> {
    if (this.#rest > 0) await this.#exchange.rest(this.#rest, this.#signal)
    const { environment } = this.#exchange.settings
    const asked = environment.monotonic()
    const answer = await ask()
    const [first, longest] = UNHURRIED
    const waited = environment.monotonic() - asked >= wait / 2
    this.#rest = waited ? 0 : Math.min(Math.max(first, this.#rest * 2), longest)
    return answer
  }
}
