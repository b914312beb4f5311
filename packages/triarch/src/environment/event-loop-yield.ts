import type { Environment } from './environment.ts'

/**
 * How long pieces of work may follow each other before the event loop is checked (ms); on a clock that stands still, the number of pieces.
 */
const LONGEST = 5
const MOST = 2_000

/**
 * Keeps chains of promises from blocking the event loop, during which no timer fires and no I/O is handled. If the loop turns by itself,
 * this costs at most one callback every few milliseconds; if not, the work yields about every ten. All such work shares one instance, so
 * that many chains at once yield as often as one.
 */
export class EventLoopYield {
  readonly #environment: Pick<Environment, 'monotonic' | 'soon'>
  #since = 0
  #pieces = 0
  /** Resolves when the loop has turned; null: no check is pending. */
  #turn: Promise<void> | null = null

  constructor(environment: Pick<Environment, 'monotonic' | 'soon'>) {
    this.#environment = environment
  }

  /** Called before each piece: the promise to await, if any, before calling again. */
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

  /** Runs a generator, yielding between its steps. */
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
