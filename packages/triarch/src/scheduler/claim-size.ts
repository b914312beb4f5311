import type { Environment } from '../environment/environment.ts'
import { CLAIM_BOUNDS } from '../store/port.ts'

/** Most tasks taken in one claim, and how many the first claim takes. */
const LARGEST = 500
const FIRST = 100
const SMALLEST_BYTES = 256 * 1024

/** If all tasks of a claim are opened within QUICK, the next claim may be larger; if one takes longer than SLOW, it is smaller (ms). */
const QUICK = 50
const SLOW = 100

/** Decides how much one claim takes: no more than was opened quickly the last time, and less after a claim that got no answer. */
export class ClaimSize {
  readonly #environment: Environment
  #tasks = FIRST
  #bytes: number = CLAIM_BOUNDS.bytes
  /** Tasks being opened, and when they were claimed. */
  readonly #opening = new Map<object, number>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** How many tasks may be claimed now; 0: tasks already claimed are to be opened first. */
  get tasks(): number {
    return this.#opening.size > this.#tasks / 2 ? 0 : this.#tasks
  }

  get bytes(): number {
    return this.#bytes
  }

  get idle(): boolean {
    return this.#opening.size === 0
  }

  claimed(task: object): void {
    this.#opening.set(task, this.#environment.monotonic())
  }

  /** Returns true if a claim waited for this and may be made now. */
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

  /** A claim got no answer. The same one might fail for ever, so the next asks for less. */
  failed(): void {
    this.#tasks = Math.max(1, Math.floor(this.#tasks / 4))
    this.#bytes = Math.max(SMALLEST_BYTES, Math.floor(this.#bytes / 4))
  }
}
