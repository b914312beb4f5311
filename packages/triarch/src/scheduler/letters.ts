import type { Letter } from '../store/port.ts'

/** Which letters of the inbox are being dealt with, so that each is dealt with once however often the inbox shows it. */
export class Letters {
  /** Taken by a runner, and not consumed yet by a durable transition. */
  readonly #taken = new Set<number>()
  /** Let go since the reading of the inbox began that is under way; null: none is. */
  #spent: Set<number> | null = null

  get size(): number {
    return this.#taken.size
  }

  /** False: somebody has it already. */
  take(letter: number): boolean {
    if (this.#taken.has(letter)) return false
    this.#taken.add(letter)
    return true
  }

  /** It is consumed, or nobody here deals with it any more. */
  drop(letter: number): void {
    this.#taken.delete(letter)
    this.#spent?.add(letter)
  }

  /**
   * What the reading finds, without the letters let go meanwhile: it may have begun before they were consumed, and so
   * still show them. Those that do remain are found by the next. One reading at a time.
   */
  async read(reading: () => Promise<Letter[]>): Promise<Letter[]> {
    const spent = new Set<number>()
    this.#spent = spent
    try {
      const letters = await reading()
      return letters.filter(({ id }) => !spent.has(id))
    } finally {
      this.#spent = null
    }
  }
}
