import type { Environment } from '../environment/environment.ts'

/** The longest that opening tasks keeps timers and I/O waiting (ms); and, where time stands still meanwhile, so many steps. */
const LONGEST = 5
const MOST = 2_000

/**
 * Lets the rest of the process have its turn while histories are read and replayed: replay runs on promises alone, and no
 * timer fires before the last of them. One for all tasks of a scheduler, so that many at once take no longer than one.
 */
export class Breath {
  readonly #environment: Environment
  #active = 0
  #since = 0
  #steps = 0
  #pause: Promise<void> | null = null

  constructor(environment: Environment) {
    this.#environment = environment
  }

  begin(): void {
    if (this.#active++ === 0) this.#drawn()
  }

  end(): void {
    this.#active--
  }

  /** After each small piece of work: what to wait for before the next, if anything. */
  take(): Promise<void> | null {
    if (this.#pause !== null) return this.#pause
    if (++this.#steps < MOST && this.#environment.monotonic() - this.#since < LONGEST) return null
    this.#pause = new Promise((resolve) => {
      this.#environment.soon(() => {
        this.#pause = null
        this.#drawn()
        resolve()
      })
    })
    return this.#pause
  }

  /** Runs the work from piece to piece. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      const pause = this.take()
      if (pause !== null) await pause
    }
  }

  #drawn(): void {
    this.#since = this.#environment.monotonic()
    this.#steps = 0
  }
}
