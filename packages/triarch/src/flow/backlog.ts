const EMPTY = Number.NEGATIVE_INFINITY

/** What a process knows of the requests that wait in the queue of an agent that it hosts. Its own steps may not overtake them. */
export class Backlog {
  /** Tenants share the slots: requests that wait come first, and the queue decides which is next. */
  readonly #strict: boolean
  /** The rank of the next request, as far as it is known. */
  #next = EMPTY
  /** The highest rank that was queued since the queue was asked last. */
  #since = EMPTY

  /** The agent runs in other processes: they know what waits in their queue, and offer no slots meanwhile. */
  readonly #elsewhere: boolean

  constructor({ strict, elsewhere = false }: { strict: boolean; elsewhere?: boolean }) {
    this.#strict = strict
    this.#elsewhere = elsewhere
  }

  get strict(): boolean {
    return this.#strict
  }

  /** Whether a step of this rank may begin without the queue, because no request that comes before it waits. */
  admits(rank: number): boolean {
    return this.#next === EMPTY || (!this.#strict && rank >= this.#next)
  }

  /** Whether no request waits, as far as it is known. */
  get empty(): boolean {
    return this.#next === EMPTY
  }

  /** A request is in the queue or about to be. */
  queued(rank: number): void {
    if (this.#elsewhere) return
    this.#next = Math.max(this.#next, rank)
    this.#since = Math.max(this.#since, rank)
  }

  /** The queue is being asked for as many requests as there is room for. */
  asked(): void {
    this.#since = EMPTY
  }

  /** The queue gave these. `full`: as many as there was room for, so that more may wait, of the last one's rank at most. */
  taken(ranks: readonly number[], full: boolean): void {
    this.#next = Math.max(this.#since, full ? Math.min(...ranks) : EMPTY)
  }
}

/** The backlog of an agent whose slots are divided into pools: one for each pool. */
export class PooledBacklog {
  readonly #from: number
  readonly #high: Backlog
  readonly #rest: Backlog
  readonly #room: (rank: number) => number

  /** `room`: how many more attempts the pool of a rank has room for. */
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

  /** A pool that was full was not asked: what is known of it stays. */
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
