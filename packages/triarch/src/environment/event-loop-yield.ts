import type { Environment } from './environment.ts'

/** How long pieces of work may follow each other before it is asked whether the loop still turns (ms); where time stands still, so many. */
const LONGEST = 5
const MOST = 2_000

/**
 * Keeps work that goes from promise to promise from keeping everybody else waiting: no timer fires and no I/O comes while
 * it lasts. A loop that turns by itself pays for it with one callback each few milliseconds at most; one that does not is
 * made to turn about every ten. One for all that do such work, so that many at once take no longer than one.
 */
export class EventLoopYield {
  readonly #environment: Pick<Environment, 'monotonic' | 'soon'>
  #since = 0
  #pieces = 0
  /** Resolves when the loop has turned; null: nobody asked since it last did. */
  #turn: Promise<void> | null = null

  constructor(environment: Pick<Environment, 'monotonic' | 'soon'>) {
    this.#environment = environment
  }

  /** Before each piece: what to wait for, if anything, before asking again. */
  show(): Promise<void> | null {
    const now = this.#environment.monotonic()
    if (++this.#pieces < MOST && now - this.#since < LONGEST) return null
    if (this.#turn !== null) return this.#turn
    this.#begin(now)
    this.#turn = new Promise((resolve) => {
      this.#environment.soon(() => {
        this.#turn = null
        this.#begin(this.#environment.monotonic())
        resolve()
      })
    })
    return null
  }

  /** Runs the work from piece to piece. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      for (let turn = this.show(); turn; turn = this.show()) await turn
      const { done, value } = work.next()
      if (done) return value
    }
  }

  #begin(now: number): void {
    this.#since = now
    this.#pieces = 0
  }
}
