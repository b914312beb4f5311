/** How long to wait after one failure, after two in a row, and so on: doubling up to a bound (ms). */
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
