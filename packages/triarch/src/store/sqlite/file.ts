import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import type { StoreVitals } from '../vitals.ts'

/** How often the file is checked while it is in use (ms). */
const EVERY = 1_000

/**
 * Checks that the file under the path is still the one that was opened, and the same for its `-wal` and `-shm`. A
 * connection goes on with a file that was deleted or replaced, and what it writes there is lost. SQLite itself deletes
 * the `-wal` only when the last connection to the file is closed, so the store keeps one open.
 */
export class SameFile {
  readonly #environment: Pick<Environment, 'monotonic'>
  /** The files, with the identity that each had when it was first seen. */
  readonly #files: { path: string; opened: string | null }[]
  #next: number
  #gone: TriarchError | null = null

  /** `real`: the file to which a link at `path` leads. */
  constructor(environment: Pick<Environment, 'monotonic'>, path: string, real: string = path) {
    this.#environment = environment
    this.#files = [path, `${real}-wal`, `${real}-shm`].map((it) => ({ path: it, opened: identityOf(it) }))
    this.#next = environment.monotonic() + EVERY
  }

  /** Throws STORE_REPLACED if a file was deleted or replaced, and from then on always. */
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

/** Returns the space of the file's file system. */
export async function vitalsOf(path: string): Promise<StoreVitals> {
  if (path === ':memory:') return {}
  const { bsize, bavail, blocks } = await statfs(path)
  return { disk: { path, free: bsize * bavail, total: bsize * blocks } }
}

/** Returns the identity of a file; null if there is none. */
function identityOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats ? `${stats.dev} ${stats.ino}` : null
}
