import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import type { StoreVitals } from '../vitals.ts'

/** How often the file is looked at, while it is used (ms). */
const EVERY = 1_000

/**
 * The file that was opened is still the one under its path. A connection goes on with a file that was deleted or replaced, and
 * what is written there nobody will ever find.
 */
export class SameFile {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #path: string
  readonly #opened: string | null
  #next: number
  #gone: TriarchError | null = null

  constructor(environment: Pick<Environment, 'monotonic'>, path: string) {
    this.#environment = environment
    this.#path = path
    this.#opened = identityOf(path)
    this.#next = environment.monotonic() + EVERY
  }

  /** Throws STORE_REPLACED, once it was seen for ever. */
  check(): void {
    if (this.#gone) throw this.#gone
    const now = this.#environment.monotonic()
    if (now < this.#next) return
    this.#next = now + EVERY
    const found = identityOf(this.#path)
    if (found === this.#opened) return
    const what = found === null ? 'deleted' : 'replaced by another'
    this.#gone = new TriarchError('STORE_REPLACED', `the file "${this.#path}" was ${what} while it was in use`)
    throw this.#gone
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
