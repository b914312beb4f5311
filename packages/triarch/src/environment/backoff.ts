/**
 * The engine's own waits after consecutive failures: doubling up to a bound (ms). The waits between attempts of a step follow its policy
 * (`kernel/step/policy.ts`).
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

  /** Called after a success. */
  reset(): void {
    this.#wait = this.#first
  }
}
