import { seededRandom } from '../../src/environment/random.ts'

/** What is drawn from one seed. */
export class Random {
  readonly #draw: () => number

  constructor(seed: number) {
    this.#draw = seededRandom(seed)
  }

  chance(share: number): boolean {
    return this.#draw() < share
  }

  /** 0 … bound - 1. */
  below(bound: number): number {
    return Math.floor(this.#draw() * bound)
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)]
  }
}
