import { type FSWatcher, watch } from 'node:fs'
import type { Environment } from '../../environment/environment.ts'

/** After the log was written to, it is asked so many times whether others' changes can be read: a write comes before its flush. */
const LOOKS = 3
/** Distance of the first look to the write, and to what was told last (ms); each is twice as long as the one before. */
const FIRST = 1
const AFTER_NEWS = 2
/** The longest distance of the first look, where it is always this process itself that writes (ms). */
const LAZIEST = 32

/**
 * Hears from the operating system that the write-ahead log of a file was written to, which other processes do as well, and tells
 * when there is something new to read. A hint: where files cannot be watched it never comes.
 */
export class Stir {
  readonly #environment: Environment
  readonly #changes: () => Promise<number | null>
  readonly #tell: () => void
  #watcher: FSWatcher | null = null
  #seen: number | null = null
  #isLooking = false
  #isAgain = false
  /** How long the first look waits (ms): longer each time that nobody else had written. */
  #first = FIRST

  /** `changes`: a number that is another one when another connection has written. */
  constructor(environment: Environment, changes: () => Promise<number | null>, tell: () => void) {
    this.#environment = environment
    this.#changes = changes
    this.#tell = tell
  }

  open(path: string): void {
    if (this.#watcher) return
    try {
      this.#watcher = watch(`${path}-wal`, { persistent: false }, () => void this.#hear())
      this.#watcher.on('error', () => this.close())
    } catch {
      // No such file, or no watching here: those who need to know ask from time to time, as they do anyway.
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = null
  }

  async #hear(): Promise<void> {
    this.#isAgain = true
    if (this.#isLooking) return
    this.#isLooking = true
    while (this.#isAgain && this.#watcher) {
      this.#isAgain = false
      const found = await this.#look()
      this.#first = found ? AFTER_NEWS : Math.min(this.#first * 2, LAZIEST)
      if (found && this.#watcher) this.#tell()
    }
    this.#isLooking = false
    if (this.#first === AFTER_NEWS) this.#first = FIRST
  }

  async #look(): Promise<boolean> {
    for (let look = 0; look < LOOKS; look++) {
      const ms = this.#first * 2 ** look
      await new Promise<void>((resolve) => void this.#environment.timer(ms, resolve).unref?.())
      if (!this.#watcher) return false
      const seen = await this.#changes().catch(() => this.#seen)
      const isNew = seen !== this.#seen
      this.#seen = seen
      if (isNew) return true
      // This process is busy writing itself: its own looks find what others did.
      if (this.#first >= LAZIEST) return false
    }
    return false
  }
}
