import type { Environment, Timer } from 'triarch/store'
import type { Role } from './connect.ts'
import { unopened } from './failure.ts'
import type { Settings } from './options.ts'
import type { Row } from './query.ts'
import { Slot, type Statement } from './slot.ts'

/** A connection that was not needed for this long is closed (ms); it is opened again when one more is needed. */
const IDLE = 30_000
/** How many connections of each pool stay open all the same: an idle node polls, and renews its lease. */
const KEPT: Readonly<Record<Role, number>> = { calls: 1, reads: 0, beats: 1, hints: 1 }

/** Runs one statement, tried for `patience` ms. */
export type Ask = (statement: Statement, values: readonly unknown[], patience?: number) => Promise<Row[]>

/** A bounded number of connections, opened when they are needed and closed when they are not; further calls wait in line. */
export class Pool {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #role: Role
  readonly #most: number
  readonly #all: Slot[] = []
  readonly #free: Slot[] = []
  readonly #waiting: ((slot: Slot | null) => void)[] = []
  /** The timer that closes idle connections. */
  #looking: Timer | null = null
  #open = true

  /** `most`: the number of connections, all of one role. */
  constructor(environment: Environment, settings: Settings, role: Role, most: number) {
    this.#environment = environment
    this.#settings = settings
    this.#role = role
    this.#most = most
  }

  /** The most connections, how many are in use, and how many calls wait for one. */
  get load(): { most: number; busy: number; waiting: number } {
    return { most: this.#most, busy: this.#all.length - this.#free.length, waiting: this.#waiting.length }
  }

  /** Runs a statement. Throws STORE_CLOSED after close(), and the errors of the statement. */
  run(statement: Statement, values: readonly unknown[], patience?: number): Promise<Row[]> {
    return this.use((ask) => ask(statement, values, patience))
  }

  /** Runs several statements, one after the other, on one connection as long as it lasts. */
  async use<T>(body: (ask: Ask) => Promise<T>): Promise<T> {
    const slot = await this.#take()
    try {
      return await body((statement, values, patience = this.#settings.patience) =>
        slot.run(statement, values, patience),
      )
    } finally {
      const next = this.#waiting.shift()
      if (next) next(slot)
      else this.#rest(slot)
    }
  }

  async close(): Promise<void> {
    this.#open = false
    this.#looking?.cancel()
    for (const waiting of this.#waiting.splice(0)) waiting(null)
    await Promise.all(this.#all.map((slot) => slot.close()))
  }

  #rest(slot: Slot): void {
    slot.restsSince = this.#environment.monotonic()
    this.#free.push(slot)
    if (this.#free.length > KEPT[this.#role]) this.#look()
  }

  #look(): void {
    if (this.#looking !== null || !this.#open) return
    this.#looking = this.#environment.timer(IDLE, () => {
      this.#looking = null
      const before = this.#environment.monotonic() - IDLE
      // The connection used last is taken first, so the lowest in the list have been idle for longest.
      const spare = this.#free.slice(0, Math.max(0, this.#free.length - KEPT[this.#role]))
      for (const slot of spare) if (slot.restsSince <= before) slot.rest()
      if (spare.some((slot) => slot.connected)) this.#look()
    })
    this.#looking.unref?.()
  }

  async #take(): Promise<Slot> {
    if (!this.#open) throw unopened()
    const free = this.#free.pop() // the one used last: its plans are cached, and idle ones stay idle
    if (free) return free
    if (this.#all.length < this.#most) {
      const slot = new Slot(this.#environment, this.#settings, this.#role)
      this.#all.push(slot)
      return slot
    }
    const slot = await new Promise<Slot | null>((resolve) => this.#waiting.push(resolve))
    if (!slot) throw unopened()
    return slot
  }
}
