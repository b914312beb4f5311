const EMPTY = Number.NEGATIVE_INFINITY

/** What a process knows of what waits in the queue of an agent that it hosts: its own steps may not pass that. */
export class Backlog {
  /** Tenants share the slots: whatever waits comes first, and the queue decides who is next. */
  readonly #strict: boolean
  /** The rank of what comes next, as far as is known. */
  #next = EMPTY
  /** The same of what was queued since the queue was last asked. */
  #since = EMPTY

  /** Of agents that are asked elsewhere: who takes what waits in their queues knows of it, and gives no slots meanwhile. */
  readonly #elsewhere: boolean

  constructor({ strict, elsewhere = false }: { strict: boolean; elsewhere?: boolean }) {
    this.#strict = strict
    this.#elsewhere = elsewhere
  }

  get strict(): boolean {
    return this.#strict
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
    if (this.#elsewhere) return
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

/** The same where slots are parted: of each pool for itself. */
export class PooledBacklog {
  readonly #from: number
  readonly #high: Backlog
  readonly #rest: Backlog
  readonly #room: (rank: number) => number

  /** `room`: how many more attempts there may be in the pool of a rank. */
  constructor({ strict, from, room }: { strict: boolean; from: number; room: (rank: number) => number }) {
    this.#from = from
    this.#high = new Backlog({ strict })
    this.#rest = new Backlog({ strict })
    this.#room = room
  }

  admits(rank: number): boolean {
    return this.#of(rank).admits(rank)
  }

  get empty(): boolean {
    return this.#high.empty && this.#rest.empty
  }

  queued(rank: number): void {
    this.#of(rank).queued(rank)
  }

  asked(): void {
    this.#high.asked()
    this.#rest.asked()
  }

  /** A pool that was full before it was asked for anything gave nothing: what is known of it stays. */
  taken(ranks: readonly number[]): void {
    for (const [backlog, rank] of [[this.#high, this.#from] as const, [this.#rest, this.#from - 1] as const]) {
      const own = ranks.filter((it) => this.#of(it) === backlog)
      const full = this.#room(rank) === 0
      if (own.length > 0 || !full) backlog.taken(own, full)
    }
  }

  #of(rank: number): Backlog {
    return rank >= this.#from ? this.#high : this.#rest
  }
}
