import type { Environment } from '../../environment/environment.ts'

/** How long operations may follow each other before it is asked whether the loop still turns (ms); where time stands still, so many. */
const LONGEST = 5
const MOST = 2_000

/**
 * Keeps whoever awaits one operation after the other from keeping everybody else waiting: in this thread they answer at
 * once, so such a loop lives on promises alone, and no timer fires while it lasts. A loop that turns by itself pays for it
 * with one callback each few milliseconds at most; one that does not is made to turn about every ten.
 */
export class Courtesy {
  readonly #environment: Environment
  #since = 0
  #operations = 0
  /** Resolves when the loop has turned; null: nobody asked since it last did. */
  #turn: Promise<void> | null = null

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Before each operation: what to wait for, if anything, before asking again. */
  show(): Promise<void> | null {
    const now = this.#environment.monotonic()
    if (++this.#operations < MOST && now - this.#since < LONGEST) return null
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

  #begin(now: number): void {
    this.#since = now
    this.#operations = 0
  }
}
