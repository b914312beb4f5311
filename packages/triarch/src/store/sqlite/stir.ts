import { type FSWatcher, statSync, utimesSync, watch } from 'node:fs'
import type { Environment, Timer } from '../../environment/environment.ts'

/** Processes sign with a number below, as a time of the file (s). Where two have one, they hear of each other a little later. */
const SIGNATURES = 2 ** 31
let stores = 0
/** What this process committed itself is no news; a look that comes this much later finds what another did in that very moment (ms). */
const AFTER_OWN = 5
/** The least distance of looks, on the average (ms): one takes some microseconds. */
const DISTANCE = 0.5
/** After a rest several may come at once: as many as fit in so long (ms). */
const CREDIT = 10

/**
 * Processes on one file tell each other that they have committed, by the operating system: who has sets the times of the file of the
 * shared memory, which nothing of SQLite's depends on, and who watches that file asks at once whether there is something new to read.
 * The time of its last reading says who it was: what a process hears of itself does not keep it from hearing others at once.
 * A hint: where files cannot be watched it never comes, and those who write without this engine give none.
 */
export class Stir {
  readonly #environment: Environment
  readonly #path: string
  readonly #changes: () => Promise<number | null>
  readonly #tell: () => void
  #watcher: FSWatcher | null = null
  #isOpen = true
  #isTouching = false
  #seen: number | null = null
  /** Of this store, in the times of the file (s). */
  readonly #signature: number
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #isLooking = false
  #isAgain = false
  /** No look comes before. */
  #notBefore = 0

  /** `path`: of the database. `changes`: a number that is another one when another connection has written. */
  constructor(environment: Environment, path: string, changes: () => Promise<number | null>, tell: () => void) {
    this.#environment = environment
    this.#path = `${path}-shm`
    this.#changes = changes
    this.#tell = tell
    this.#signature = (process.pid * 1_024 + ++stores) % SIGNATURES
  }

  listen(): void {
    if (this.#watcher || !this.#isOpen) return
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#hear())
      this.#watcher.on('error', () => this.#deafen())
    } catch {
      // No such file, or no watching here: those who need to know ask from time to time, as they do anyway.
    }
  }

  close(): void {
    this.#isOpen = false
    this.#deafen()
  }

  /** Something that others may wait for was committed here: they are told once this process has done what it can do itself. */
  committed(): void {
    if (this.#isTouching) return
    this.#isTouching = true
    this.#environment.soon(() => this.#touch())
  }

  #touch(): void {
    this.#isTouching = false
    if (!this.#isOpen) return
    const isOther = this.#watcher !== null && !this.#isOwn()
    try {
      // By its path: a descriptor of that file, when it is closed, would take all of SQLite's locks along.
      utimesSync(this.#path, this.#signature, this.#environment.now() / 1_000)
    } catch {
      // Others look from time to time.
    }
    // Somebody else's hand is gone now, and may not have been seen.
    if (isOther) this.#arm(0)
  }

  /** Whether it was this process that touched the file last. */
  #isOwn(): boolean {
    try {
      return Math.floor(statSync(this.#path).atimeMs / 1_000) === this.#signature
    } catch {
      return false
    }
  }

  #deafen(): void {
    this.#timer?.cancel()
    this.#watcher?.close()
    this.#watcher = null
  }

  #hear(): void {
    this.#arm(this.#isOwn() ? AFTER_OWN : 0)
  }

  #arm(ms: number): void {
    if (this.#isLooking) this.#isAgain = true
    const now = this.#environment.monotonic()
    const at = Math.max(now + ms, this.#notBefore)
    if (!this.#watcher || this.#isLooking || this.#timerAt <= at) return
    this.#timer?.cancel()
    this.#timerAt = at
    if (at <= now) return void this.#look()
    this.#timer = this.#environment.timer(at - now, () => void this.#look())
    this.#timer.unref?.()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#isAgain = false
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#notBefore = Math.max(this.#notBefore, this.#environment.monotonic() - CREDIT) + DISTANCE
    const seen = await this.#changes().catch(() => this.#seen)
    this.#isLooking = false
    const isNew = seen !== this.#seen
    this.#seen = seen
    if (!this.#watcher) return
    if (isNew) this.#tell()
    if (this.#isAgain) this.#arm(0)
  }
}
