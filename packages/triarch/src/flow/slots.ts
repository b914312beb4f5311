import type { Pools } from '../definition/queue.ts'

/** The bound of an action's own, and how many attempts of it there are. Actions may share one. */
export interface Limit {
  most: number
  taken: number
}

/** Slots that are parted by rank: those below `from` have their own. */
interface PooledLimits {
  readonly from: number
  readonly high: Limit
  readonly rest: Limit
}

/** Who may run in one host, and how many: never more at once than the agent's concurrency, nor of an action than its own. */
export class Slots {
  #most: number
  /** Of actions with a concurrency of their own. */
  readonly #limits: Map<string, Limit>
  /** Null: there is one pool for all. */
  readonly #pools: PooledLimits | null = null
  /** Told when a slot is free again after all were taken. */
  readonly #freed: () => void
  #taken = 0
  /** Of those taken: held, while nobody knows whether there is anything for them. */
  #held = 0
  /** Attempts that are here without a slot. */
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

  /** Where slots are elsewhere there may be more or fewer of them. */
  set most(most: number) {
    const grows = most > this.#most
    this.#most = most
    if (grows && this.free > 0) this.#freed()
  }

  /** Attempts that have one. */
  get running(): number {
    return this.#taken - this.#held
  }

  get free(): number {
    return this.#open ? this.#most - this.#taken : 0
  }

  /** Free, or held only while a queue is asked. */
  get spare(): number {
    return this.#open ? this.#most - this.#taken + this.#held : 0
  }

  /** Actions that have a concurrency of their own. */
  get limited(): string[] {
    return [...this.#limits.keys()]
  }

  /** The bound of an action is another from now on; null: it has none. Those that run go on. */
  bound(action: string, most: number | null): void {
    const limit = this.#limits.get(action)
    if ((limit?.most ?? null) === most) return
    // One that has none any more still counts what runs.
    if (limit) limit.most = most ?? Number.POSITIVE_INFINITY
    else if (most !== null) this.#limits.set(action, { most, taken: 0 })
    if (this.free > 0) this.#freed()
  }

  /** How many more attempts of the action there may be, as far as it is up to the action. */
  room(action: string): number {
    const limit = this.#limits.get(action)
    return limit ? limit.most - limit.taken : Number.POSITIVE_INFINITY
  }

  /** Takes a slot for an attempt of the action. False: there is none. */
  reserve(action: string, rank = 0): boolean {
    if (this.free <= 0 || this.room(action) <= 0) return false
    const pool = this.#poolOf(rank)
    // Of those that are held nobody knows yet of which pool they will be.
    if (pool && (this.#held > 0 || pool.taken >= pool.most)) return false
    this.take()
    this.count(action, rank)
    return true
  }

  /** From which rank on an attempt is of the high pool; null: there is one pool for all. */
  get parted(): number | null {
    return this.#pools?.from ?? null
  }

  /** What runs in each pool, and what may; null: there is one for all. */
  get pools(): { high: { running: number; most: number }; rest: { running: number; most: number } } | null {
    if (!this.#pools) return null
    const of = ({ taken, most }: Limit) => ({ running: taken, most })
    return { high: of(this.#pools.high), rest: of(this.#pools.rest) }
  }

  /** How many more attempts there may be in the pool of this rank. */
  roomAt(rank: number): number {
    const pool = this.#poolOf(rank)
    return pool ? Math.max(0, pool.most - pool.taken) : Number.POSITIVE_INFINITY
  }

  #poolOf(rank: number): Limit | null {
    if (!this.#pools) return null
    return rank >= this.#pools.from ? this.#pools.high : this.#pools.rest
  }

  /** Takes up to `most`, nobody knows yet for which actions; how many it took. */
  hold(most: number): number {
    const slots = Math.max(0, Math.min(this.free, most))
    this.#taken += slots
    this.#held += slots
    return slots
  }

  /** Something was found for one that is held. */
  fill(): void {
    this.#held--
  }

  /** Gives back held slots that nothing was found for. */
  unhold(slots: number): void {
    this.#taken -= slots
    this.#held -= slots
    this.#wake()
  }

  /** Takes a slot whether or not one is free. */
  take(): void {
    this.#taken++
  }

  /** An attempt of the action has one of those that were taken. */
  count(action: string, rank = 0): void {
    const limit = this.#limits.get(action)
    if (limit) limit.taken++
    const pool = this.#poolOf(rank)
    if (pool) pool.taken++
  }

  /** Gives back the slot of an attempt of the action. */
  release(action: string, rank = 0): void {
    const limit = this.#limits.get(action)
    const full = limit !== undefined && limit.taken > 0 && limit.taken-- === limit.most
    const pool = this.#poolOf(rank)
    const filled = pool !== null && pool.taken-- === pool.most
    if (this.#taken-- === this.#most || full || filled) this.#freed()
    this.#wake()
  }

  /** An attempt is here that needs no slot yet. */
  enter(): void {
    this.#guests++
  }

  /** It is over, or has a slot. */
  leave(): void {
    this.#guests--
    this.#wake()
  }

  /** None is free any more. */
  close(): void {
    this.#open = false
  }

  /** Resolves when none is taken. */
  idle(): Promise<void> {
    if (this.#taken + this.#guests === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #wake(): void {
    if (this.#taken + this.#guests === 0) for (const wake of this.#idle.splice(0)) wake()
  }
}
