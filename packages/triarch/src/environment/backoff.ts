/**
 * How long the engine itself waits after one failure, after two in a row, and so on: doubling up to a bound (ms). The waits between attempts of a
 * step are its policy's (`kernel/step/policy.ts`).
 */
export class Backoff {
  readonly #first: number
  readonly #most: number
  #wait: number

  constructor(first: number, most: number) {
    this.#first = first
    this.#most = most
    this.#wait = first
  }

  next(): number {
    const wait = this.#wait
    this.#wait = Math.min(wait * 2, this.#most)
    return wait
  }

  /** It went well. */
  reset(): void {
    this.#wait = this.#first
  }
}
