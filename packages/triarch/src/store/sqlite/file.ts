import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import type { StoreVitals } from '../vitals.ts'

/** How often the file is looked at, while it is used (ms). */
const EVERY = 1_000

/**
 * The file that was opened is still the one under its path, and so are its `-wal` and `-shm`. A connection goes on with a file
 * that was deleted or replaced, and what is written there nobody will ever find. SQLite itself deletes the `-wal` only when the
 * last connection to the file is closed, so the store keeps one open.
 */
export class SameFile {
  readonly #environment: Pick<Environment, 'monotonic'>
  /** With the identity that each had when it was seen first. */
  readonly #files: { path: string; opened: string | null }[]
  #next: number
  #gone: TriarchError | null = null

  /** `real`: where a link at `path` leads. */
  constructor(environment: Pick<Environment, 'monotonic'>, path: string, real: string = path) {
    this.#environment = environment
    this.#files = [path, `${real}-wal`, `${real}-shm`].map((it) => ({ path: it, opened: identityOf(it) }))
    this.#next = environment.monotonic() + EVERY
  }

  /** Throws STORE_REPLACED, once it was seen for ever. */
  check(): void {
    if (this.#gone) throw this.#gone
    const now = this.#environment.monotonic()
    if (now < this.#next) return
    this.#next = now + EVERY
    for (const file of this.#files) {
      const found = identityOf(file.path)
      file.opened ??= found
      if (found === file.opened) continue
      const what = found === null ? 'deleted' : 'replaced by another'
      this.#gone = new TriarchError('STORE_REPLACED', `the file "${file.path}" was ${what} while it was in use`)
      throw this.#gone
    }
  }
}

/** Of the file system of the file. */
export async function vitalsOf(path: string): Promise<StoreVitals> {
  if (path === ':memory:') return {}
  const { bsize, bavail, blocks } = await statfs(path)
  return { disk: { path, free: bsize * bavail, total: bsize * blocks } }
}

/** Null: there is none, or nobody may look. */
function identityOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats ? `${stats.dev} ${stats.ino}` : null
}
