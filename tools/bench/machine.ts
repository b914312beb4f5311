import { mkdirSync, mkdtempSync, statfsSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

export interface Machine {
  cpu: string
  cores: number
  memoryGiB: number
  os: string
  node: string
  /** The database and its version. */
  store: string
  tmpfs: boolean
}

/** How every process runs that is measured, those of others too (docs/internals/performance.md). */
export const FLAGS: readonly string[] = ['--no-allocation-site-pretenuring']

const TMPFS = 0x01021994

/** `server`: the version of the PostgreSQL that is measured. */
export function machine(folder: string, server?: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${process.platform} ${process.arch}`,
    node: [process.version, ...FLAGS].join(' '),
    store: server === undefined ? `SQLite ${sqliteVersion()}` : `PostgreSQL ${server}`,
    tmpfs: statfsSync(folder).type === TMPFS,
  }
}

/** A new folder on the checkout's own disk, or under `parent`; the caller removes it. */
export function newFolder(parent: string | undefined): string {
  const base = parent ?? fileURLToPath(new URL('../../node_modules/.cache/triarch-bench', import.meta.url))
  mkdirSync(base, { recursive: true })
  return mkdtempSync(`${base}/run-`)
}

function sqliteVersion(): string {
  const database = new DatabaseSync(':memory:')
  const row = database.prepare('SELECT sqlite_version() AS version').get()
  database.close()
  return String(row?.version)
}
