import { type FSWatcher, statSync, utimesSync, watch } from 'node:fs'
import type { Environment, Timer } from '../../environment/environment.ts'

/** Two times of the file that are this close are the same touch: the file system may keep whole microseconds only (ms). */
const SAME = 0.002
let stores = 0
/**
 * A look that comes this much after an own commit finds what another process did in that very moment (ms). What was committed over the
 * connection that `changes` asks is no news to it. What was over another one of this process, its thread's or that of users'
 * transactions, cannot be told from what others did: it is told, rather than that something of others is not.
 */
const AFTER_OWN = 5
/** The least distance of looks, on the average (ms): one takes some microseconds. */
const DISTANCE = 0.5
/** So long after it was committed others hear of what nobody waits for in particular (ms). */
const LATER = 1
/** After a rest several may come at once: as many as fit in so long (ms). */
const CREDIT = 10

/** When others are to hear of a commit: at once; when this process has done what it can do itself; or with the next of these. */
export type NotifyWhen = 'now' | 'soon' | 'later'

/**
 * Processes on one file tell each other that they have committed, by the operating system: who has sets the times of the file of the
 * shared memory, which nothing of SQLite's depends on, and who watches that file asks at once whether there is something new to read.
 * A store knows the time that it set last, so its own touches do not keep it from hearing others at once. Where two stores set the same
 * time, they hear of each other a little later.
 * A hint: where files cannot be watched it never comes, and those who write without this engine give none.
 */
export class FileNotifier {
  readonly #environment: Environment
  readonly #path: string
  readonly #changes: () => Promise<number | null>
  readonly #tell: () => void
  #watcher: FSWatcher | null = null
  #isOpen = true
  /** A touch that is to come: once this loop is over, or by a timer. */
  #isSoon = false
  #later: Timer | null = null
  #touchedAt = Number.NEGATIVE_INFINITY
  /** Makes each time that is set another one (µs); stores begin at different ones. */
  #touches: number
  /** The time that this store set last (ms). */
  #own = Number.NaN
  /** The time of the last touch of another that was heard. */
  #heard = Number.NaN
  #seen: number | null = null
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #isLooking = false
  #isAgain = false
  /** A hand of another was seen since the last look: there is something new, and it is told before it is asked how new. */
  #isNews = false
  /** No look comes before. */
  #notBefore = 0

  /** `path`: of the database. `changes`: a number that is another one when another connection has written. */
  constructor(environment: Environment, path: string, changes: () => Promise<number | null>, tell: () => void) {
    this.#environment = environment
    this.#path = `${path}-shm`
    this.#changes = changes
    this.#tell = tell
    this.#touches = (process.pid * 7 + ++stores * 331) % 1_000
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

  /** Others hear of what they have not heard of yet. */
  close(): void {
    if (this.#isSoon || this.#later) this.#touch()
    this.#isOpen = false
    this.#deafen()
  }

  /** Something that others may wait for was committed here. */
  committed(news: NotifyWhen = 'soon'): void {
    const environment = this.#environment
    if (news === 'now' && environment.monotonic() - this.#touchedAt >= DISTANCE) return this.#touch()
    if (this.#isSoon) return
    if (news === 'later') {
      this.#later ??= environment.timer(LATER, () => this.#touch())
      return
    }
    this.#isSoon = true
    environment.soon(() => this.#isSoon && this.#touch())
  }

  #touch(): void {
    this.#isSoon = false
    this.#later?.cancel()
    this.#later = null
    if (!this.#isOpen) return
    const hand = this.#watcher && this.#hand()
    this.#touchedAt = this.#environment.monotonic()
    this.#touches = (this.#touches + 1) % 1_000
    this.#own = this.#environment.now() + this.#touches / 1_000
    try {
      // By its path: a descriptor of that file, when it is closed, would take all of SQLite's locks along.
      utimesSync(this.#path, this.#own / 1_000, this.#own / 1_000)
    } catch {
      // Others look from time to time.
    }
    // Somebody else's hand is gone now, and may not have been seen.
    if (hand && !hand.isOwn) this.#see(hand.at)
  }

  /** Whether this store touched the file last, and the time that was set; null: nobody knows. */
  #hand(): { isOwn: boolean; at: number } | null {
    try {
      const { mtimeMs } = statSync(this.#path)
      return { isOwn: Math.abs(mtimeMs - this.#own) < SAME, at: mtimeMs }
    } catch {
      return null
    }
  }

  #deafen(): void {
    this.#timer?.cancel()
    this.#watcher?.close()
    this.#watcher = null
  }

  #hear(): void {
    const hand = this.#hand()
    if (hand?.isOwn) return this.#arm(AFTER_OWN)
    if (hand) this.#see(hand.at)
    else this.#arm(0)
  }

  #see(at: number): void {
    if (at === this.#heard) return
    this.#heard = at
    this.#isNews = true
    this.#arm(0)
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
    const isNews = this.#isNews
    this.#isNews = false
    if (isNews && this.#watcher) this.#tell()
    const seen = await this.#changes().catch(() => this.#seen)
    this.#isLooking = false
    const isNew = seen !== this.#seen
    this.#seen = seen
    if (!this.#watcher) return
    if (isNew && !isNews) this.#tell()
    if (this.#isAgain) this.#arm(0)
  }
}
