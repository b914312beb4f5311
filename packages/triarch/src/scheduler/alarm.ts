import type { Environment, Timer } from '../environment/environment.ts'
import { Heap } from '../environment/heap.ts'

/** Most times kept. Beyond that, the leader's sweep wakes the tasks that no alarm woke. */
const MOST = 10_000

export interface AlarmOptions {
  environment: Environment
  /** Called when the sleep of some task is over. */
  ring: () => void
  /** `tidy` is called about every so many ms, for work that is due even if nothing happens. */
  every: number
  tidy: () => void
}

/** Rings when a task is due that was put to sleep here or that the store reported. Makes no store calls. */
export class WakeAlarm {
  readonly #options: AlarmOptions
  readonly #own = new Heap<number>((a, b) => a < b)
  #size = 0
  #told: number | null = null
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #tidyAt = 0
  #open = false

  constructor(options: AlarmOptions) {
    this.#options = options
  }

  start(): void {
    this.#open = true
    this.#tidyAt = this.#options.environment.now() + this.#options.every
    this.#arm()
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  /** A task put to sleep here is due at this time. */
  set(at: number): void {
    if (this.#size === MOST) return
    this.#size++
    this.#own.add(at)
    this.#arm()
  }

  /** The first due time that the store knows of; null: none. */
  tell(at: number | null): void {
    this.#told = at
    this.#arm()
  }

  get #due(): number {
    return Math.min(this.#own.first ?? Number.POSITIVE_INFINITY, this.#told ?? Number.POSITIVE_INFINITY)
  }

  #arm(): void {
    const at = Math.min(this.#due, this.#tidyAt)
    if (!this.#open || at >= this.#timerAt) return
    const { environment } = this.#options
    this.#timerAt = at
    this.#timer?.cancel()
    this.#timer = environment.timer(Math.max(1, at - environment.now()), () => this.#tick())
  }

  #tick(): void {
    const { environment, every, ring, tidy } = this.#options
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = environment.now()
    const due = this.#due <= now
    while ((this.#own.first ?? Number.POSITIVE_INFINITY) <= now) {
      this.#own.take()
      this.#size--
    }
    if (this.#told !== null && this.#told <= now) this.#told = null
    if (due) ring()
    if (this.#tidyAt <= now) {
      this.#tidyAt = now + every
      tidy()
    }
    this.#arm()
  }
}
