const EMPTY = Number.NEGATIVE_INFINITY

/** What a process knows of what waits in the queue of an agent that it hosts: its own steps may not pass that. */
export class Backlog {
  /** Tenants share the slots: whatever waits comes first, and the queue decides who is next. */
  readonly #strict: boolean
  /** The rank of what comes next, as far as is known. */
  #next = EMPTY
  /** The same of what was queued since the queue was last asked. */
  #since = EMPTY

  constructor({ strict }: { strict: boolean }) {
    this.#strict = strict
  }

  /** Whether a step of this rank may begin here without the queue: nothing waits that comes before it. */
  admits(rank: number): boolean {
    return this.#next === EMPTY || (!this.#strict && rank >= this.#next)
  }

  /** Nothing waits, as far as is known: whatever the rank. */
  get empty(): boolean {
    return this.#next === EMPTY
  }

  /** A request is in the queue, or will be. */
  queued(rank: number): void {
    this.#next = Math.max(this.#next, rank)
    this.#since = Math.max(this.#since, rank)
  }

  /** The queue is asked for as much as there is room for. */
  asked(): void {
    this.#since = EMPTY
  }

  /** It gave this. `full`: as much as there was room for, so that more may wait, and no more than the last of these. */
  taken(ranks: readonly number[], full: boolean): void {
    this.#next = Math.max(this.#since, full ? Math.min(...ranks) : EMPTY)
  }
}
