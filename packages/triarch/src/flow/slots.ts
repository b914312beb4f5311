import type { Pools } from '../definition/queue.ts'

/** The concurrency limit of an action, and how many attempts of it hold a slot. Actions may share one limit. */
export interface Limit {
  most: number
  taken: number
}

/** Slots that are divided into two pools by rank: attempts below `from` have their own. */
interface PooledLimits {
  readonly from: number
  readonly high: Limit
  readonly rest: Limit
}

/** The slots of one host: never more attempts run at once than the agent's concurrency allows, nor of one action than its own. */
export class Slots {
  #most: number
  /** The limits of actions that have one of their own. */
  readonly #limits: Map<string, Limit>
  /** Null: there is one pool. */
  readonly #pools: PooledLimits | null = null
  /** Called when a slot is free again after all were taken. */
  readonly #freed: () => void
  #taken = 0
  /** Slots that are held while the queue is asked for requests. */
  #held = 0
  /** Attempts in this host without a slot. */
  #guests = 0
  #open = true
  #idle: (() => void)[] = []

  constructor(most: number, limits: Map<string, Limit>, freed: () => void, pools: Pools | null = null) {
    if (pools) {
      const of = (slots: number): Limit => ({ most: slots, taken: 0 })
      this.#pools = { from: pools.from, high: of(pools.high), rest: of(pools.rest) }
    }
    this.#most = most
    this.#limits = limits
    this.#freed = freed
  }

  get open(): boolean {
    return this.#open
  }

  get most(): number {
    return this.#most
  }

  /** The number of slots may change where they are in other processes. */
  set most(most: number) {
    const grows = most > this.#most
    this.#most = most
    if (grows && this.free > 0) this.#freed()
  }

  /** Attempts that hold a slot. */
  get running(): number {
    return this.#taken - this.#held
  }

  get free(): number {
    return this.#open ? this.#most - this.#taken : 0
  }

  /** Slots that are free, or only held while a queue is asked. */
  get spare(): number {
    return this.#open ? this.#most - this.#taken + this.#held : 0
  }

  /** Actions that have a concurrency of their own. */
  get limited(): string[] {
    return [...this.#limits.keys()]
  }

  /** Changes the limit of an action; null removes it. Attempts that run go on. */
  bound(action: string, most: number | null): void {
    const limit = this.#limits.get(action)
    if ((limit?.most ?? null) === most) return
    // A removed limit still counts the attempts that run.
    if (limit) limit.most = most ?? Number.POSITIVE_INFINITY
    else if (most !== null) this.#limits.set(action, { most, taken: 0 })
    if (this.free > 0) this.#freed()
  }

  /** How many more attempts of the action its own limit allows. */
  room(action: string): number {
    const limit = this.#limits.get(action)
    return limit ? limit.most - limit.taken : Number.POSITIVE_INFINITY
  }

  /** Takes a slot for an attempt of the action. False: there is none. */
  reserve(action: string, rank = 0): boolean {
    if (this.free <= 0 || this.room(action) <= 0) return false
    const pool = this.#poolOf(rank)
    // It is not known yet which pool the held slots will belong to.
    if (pool && (this.#held > 0 || pool.taken >= pool.most)) return false
    this.take()
    this.count(action, rank)
    return true
  }

  /** The rank from which on an attempt belongs to the high pool; null: there is one pool. */
  get parted(): number | null {
    return this.#pools?.from ?? null
  }

  /** How many attempts run and may run in each pool; null: there is one pool. */
  get pools(): { high: { running: number; most: number }; rest: { running: number; most: number } } | null {
    if (!this.#pools) return null
    const of = ({ taken, most }: Limit) => ({ running: taken, most })
    return { high: of(this.#pools.high), rest: of(this.#pools.rest) }
  }

  /** How many more attempts the pool of this rank has room for. */
  roomAt(rank: number): number {
    const pool = this.#poolOf(rank)
    return pool ? Math.max(0, pool.most - pool.taken) : Number.POSITIVE_INFINITY
  }

  #poolOf(rank: number): Limit | null {
    if (!this.#pools) return null
    return rank >= this.#pools.from ? this.#pools.high : this.#pools.rest
  }

  /** Holds up to `most` slots while a queue is asked. Returns how many. */
  hold(most: number): number {
    const slots = Math.max(0, Math.min(this.free, most))
    this.#taken += slots
    this.#held += slots
    return slots
  }

  /** A request was found for a held slot. */
  fill(): void {
    this.#held--
  }

  /** Releases held slots for which no request was found. */
  unhold(slots: number): void {
    this.#taken -= slots
    this.#held -= slots
    this.#wake()
  }

  /** Takes a slot whether or not one is free. */
  take(): void {
    this.#taken++
  }

  /** Counts a taken slot as one of an attempt of the action. */
  count(action: string, rank = 0): void {
    const limit = this.#limits.get(action)
    if (limit) limit.taken++
    const pool = this.#poolOf(rank)
    if (pool) pool.taken++
  }

  /** Releases the slot of an attempt of the action. */
  release(action: string, rank = 0): void {
    const limit = this.#limits.get(action)
    const full = limit !== undefined && limit.taken > 0 && limit.taken-- === limit.most
    const pool = this.#poolOf(rank)
    const filled = pool !== null && pool.taken-- === pool.most
    if (this.#taken-- === this.#most || full || filled) this.#freed()
    this.#wake()
  }

  /** Counts an attempt that needs no slot yet. */
  enter(): void {
    this.#guests++
  }

  /** The attempt is over, or holds a slot. */
  leave(): void {
    this.#guests--
    this.#wake()
  }

  /** No slot is given any more. */
  close(): void {
    this.#open = false
  }

  /** Resolves when no slot is taken. */
  idle(): Promise<void> {
    if (this.#taken + this.#guests === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #wake(): void {
    if (this.#taken + this.#guests === 0) for (const wake of this.#idle.splice(0)) wake()
  }
}
