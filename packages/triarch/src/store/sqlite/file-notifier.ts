import { type FSWatcher, statSync, utimesSync, watch } from 'node:fs'
import type { Environment, Timer } from '../../environment/environment.ts'

/** Two times of the file that differ by less are equal (ms): the file system may store whole microseconds only. */
const SAME = 0.002
let stores = 0
/**
 * Delay of a check after an own commit (ms), which finds what another process committed at the same moment. `changes`
 * ignores commits of the connection that it asks. Commits of other connections of this process, in its thread or for
 * users' transactions, look like those of other processes: they cause a needless notification, rather than a commit of
 * others being missed.
 */
const AFTER_OWN = 5
/** The least average distance of checks (ms): one takes some microseconds. */
const DISTANCE = 0.5
/** The delay of notifications that no process waits for in particular (ms). */
const LATER = 1
/** After a pause, as many checks may follow each other at once as fit in this time (ms). */
const CREDIT = 10

/**
 * When other processes are notified of a commit: at once; when this process has done what it can do itself; or together
 * with the next of these.
 */
export type NotifyWhen = 'now' | 'soon' | 'later'

/**
 * Notifies other processes on the same file of commits, and is notified by them, through the operating system. After a
 * commit a store sets the times of the shared-memory file, on which nothing in SQLite depends; a store that watches
 * that file checks at once whether there is something new to read. Each store knows the time that it set last, so its
 * own touches do not delay notifications of others; if two stores set the same time, they are notified a little later.
 * Notifications are not reliable: where files cannot be watched none arrive, and processes that write without this
 * engine send none.
 */
export class FileNotifier {
  readonly #environment: Environment
  readonly #path: string
  readonly #changes: () => Promise<number | null>
  readonly #tell: () => void
  #watcher: FSWatcher | null = null
  #isOpen = true
  /** A pending touch: at the end of this iteration of the event loop, or by a timer. */
  #isSoon = false
  #later: Timer | null = null
  #touchedAt = Number.NEGATIVE_INFINITY
  /** Makes each time that is set different (µs); each store begins at another value. */
  #touches: number
  /** The time that this store set last (ms). */
  #own = Number.NaN
  /** The time of the last touch of another store that was noticed. */
  #heard = Number.NaN
  #seen: number | null = null
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #isLooking = false
  #isAgain = false
  /** Another store's touch was seen since the last check: the change is reported before `changes` is asked. */
  #isNews = false
  /** The next check comes no earlier. */
  #notBefore = 0

  /** `path`: the file of the database. `changes`: returns a number that differs after another connection wrote. */
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
      // There is no such file, or files cannot be watched here: the nodes poll from time to time in any case.
    }
  }

  /** Stops watching, after it has notified others of pending commits. */
  close(): void {
    if (this.#isSoon || this.#later) this.#touch()
    this.#isOpen = false
    this.#deafen()
  }

  /** Reports a commit that other processes may wait for. */
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
      // The path is used because closing a descriptor of that file would release all of SQLite's locks.
      utimesSync(this.#path, this.#own / 1_000, this.#own / 1_000)
    } catch {
      // Other processes poll from time to time.
    }
    // The touch of another store was overwritten just now, and may not have been noticed.
    if (hand && !hand.isOwn) this.#see(hand.at)
  }

  /** Returns whether this store touched the file last, and the time that was set; null if that cannot be read. */
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
