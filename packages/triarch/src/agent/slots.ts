/** The bound of an action's own, and how many attempts of it there are. Actions may share one. */
export interface Limit {
  most: number
  taken: number
}

/** Who may run in one host, and how many: never more at once than the agent's concurrency, nor of an action than its own. */
export class Slots {
  #most: number
  /** Of actions with a concurrency of their own. */
  readonly #limits: Map<string, Limit>
  /** Told when a slot is free again after all were taken. */
  readonly #freed: () => void
  #taken = 0
  /** Of those taken: held, while nobody knows whether there is anything for them. */
  #held = 0
  /** Attempts that are here without a slot. */
  #guests = 0
  #open = true
  #idle: (() => void)[] = []

  constructor(most: number, limits: Map<string, Limit>, freed: () => void) {
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
  reserve(action: string): boolean {
    if (this.free <= 0 || this.room(action) <= 0) return false
    this.take()
    this.count(action)
    return true
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
  count(action: string): void {
    const limit = this.#limits.get(action)
    if (limit) limit.taken++
  }

  /** Gives back the slot of an attempt of the action. */
  release(action: string): void {
    const limit = this.#limits.get(action)
    const full = limit !== undefined && limit.taken > 0 && limit.taken-- === limit.most
    if (this.#taken-- === this.#most || full) this.#freed()
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
