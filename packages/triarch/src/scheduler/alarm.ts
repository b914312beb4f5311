import { Heap } from '../environment/heap.ts'

/** Instants that are kept; beyond, the latest are left to the leader's sweep, which wakes what nobody woke. */
const MOST = 10_000

/** When to look for tasks whose sleep is over: those that were put to sleep here, and what the store told of others. */
export class Alarm {
  readonly #own = new Heap<number>((a, b) => a < b)
  #size = 0
  #told: number | null = null

  /** Something put to sleep here is due then. */
  set(at: number): void {
    if (this.#size === MOST) return
    this.#size++
    this.#own.add(at)
  }

  /** The first instant the store knows of; null: none. */
  tell(at: number | null): void {
    this.#told = at
  }

  get next(): number {
    return Math.min(this.#own.first ?? Number.POSITIVE_INFINITY, this.#told ?? Number.POSITIVE_INFINITY)
  }

  /** Whether an instant has come; those that have are forgotten. */
  rings(now: number): boolean {
    const due = this.next <= now
    while ((this.#own.first ?? Number.POSITIVE_INFINITY) <= now) {
      this.#own.take()
      this.#size--
    }
    if (this.#told !== null && this.#told <= now) this.#told = null
    return due
  }
}
