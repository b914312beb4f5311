import type { Environment } from 'triarch/store'
import type { Role } from './connect.ts'
import { unopened } from './failure.ts'
import type { Settings } from './options.ts'
import { type Row, Slot, type Statement } from './slot.ts'

/** A few connections, opened when they are needed; calls beyond their number wait in line. */
export class Pool {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #role: Role
  readonly #most: number
  readonly #all: Slot[] = []
  readonly #free: Slot[] = []
  readonly #waiting: ((slot: Slot | null) => void)[] = []
  #open = true

  /** At most so many connections, all of one role. */
  constructor(environment: Environment, settings: Settings, role: Role, most: number) {
    this.#environment = environment
    this.#settings = settings
    this.#role = role
    this.#most = most
  }

  /** How many connections there may be, how many are at work, and how many calls wait for one. */
  get load(): { most: number; busy: number; waiting: number } {
    return { most: this.#most, busy: this.#all.length - this.#free.length, waiting: this.#waiting.length }
  }

  /** Throws STORE_CLOSED after close(), and whatever the statement meets. */
  async run(statement: Statement, values: readonly unknown[], patience?: number): Promise<Row[]> {
    const slot = await this.#take()
    try {
      return await slot.run(statement, values, patience ?? this.#settings.patience)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(slot)
      else this.#free.push(slot)
    }
  }

  async close(): Promise<void> {
    this.#open = false
    for (const waiting of this.#waiting.splice(0)) waiting(null)
    await Promise.all(this.#all.map((slot) => slot.close()))
  }

  async #take(): Promise<Slot> {
    if (!this.#open) throw unopened()
    const free = this.#free.pop() // the one used last: its plans are warm, and idle ones stay idle
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
