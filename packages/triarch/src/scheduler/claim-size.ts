import type { Environment } from '../environment/environment.ts'
import { CLAIM_BOUNDS } from '../store/port.ts'

/** Most tasks taken in one claim, and how many the first one takes. */
const LARGEST = 500
const FIRST = 100
const SMALLEST_BYTES = 256 * 1024

/** Tasks of one claim are to be opened within this long (ms); then the next may be larger, beyond the other it is smaller. */
const QUICK = 50
const SLOW = 100

/** How much one claim takes: no more than was opened quickly the last time, and less after one that got no answer. */
export class ClaimSize {
  readonly #environment: Environment
  #tasks = FIRST
  #bytes: number = CLAIM_BOUNDS.bytes
  /** Tasks that are being opened, and when they were claimed. */
  readonly #opening = new Map<object, number>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** How many tasks may be claimed now; 0: those at hand are to be opened first. */
  get tasks(): number {
    return this.#opening.size > this.#tasks / 2 ? 0 : this.#tasks
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Nothing is being opened. */
  get idle(): boolean {
    return this.#opening.size === 0
  }

  claimed(task: object): void {
    this.#opening.set(task, this.#environment.monotonic())
  }

  /** True when claims have waited for it. */
  opened(task: object): boolean {
    const since = this.#opening.get(task)
    if (since === undefined) return false
    const waited = this.tasks === 0
    this.#opening.delete(task)
    const took = this.#environment.monotonic() - since
    if (took > SLOW) this.#tasks = Math.max(1, Math.min(this.#tasks, Math.ceil(this.#opening.size / 2)))
    else if (took < QUICK && this.#opening.size === 0) {
      this.#tasks = Math.min(LARGEST, this.#tasks * 2)
      this.#bytes = Math.min(CLAIM_BOUNDS.bytes, this.#bytes * 2)
    }
    return waited && this.tasks > 0
  }

  /** The same claim might fail for ever: the next asks for less. */
  failed(): void {
    this.#tasks = Math.max(1, Math.floor(this.#tasks / 4))
    this.#bytes = Math.max(SMALLEST_BYTES, Math.floor(this.#bytes / 4))
  }
}
