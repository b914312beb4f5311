import { type StatsFs, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A log that is larger than this was not written back for long (bytes). */
const LARGE_LOG = 256 * 1024 * 1024

/** Share of a disk that should be free. */
const LEAST_FREE = 0.05

/** The library, the file, and how it is written. */
export function sqliteFindings(path: string): Finding[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return looked(database, path)
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string }
    // So damaged that nothing more can be asked.
    if (damages.includes((errcode ?? 0) & 0xff)) return [damaged(message)]
    throw error
  } finally {
    database.close()
  }
}

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const damages: readonly number[] = [11, 26]

function looked(database: DatabaseSync, path: string): Finding[] {
  const one = (sql: string) => String(Object.values(database.prepare(sql).get() ?? {})[0] ?? '')
  const journal = one('PRAGMA journal_mode')
  const check = one('PRAGMA quick_check(1)')
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const size = megabytes(statSync(path).size)
  return [
    build(one('SELECT sqlite_version()'), one("SELECT sqlite_compileoption_used('THREADSAFE=0')")),
    disk(statfsSync(dirname(resolve(path)))),
    journal === 'wal'
      ? ok('journal', 'write-ahead log')
      : fail('journal', `mode ${journal}`, 'PRAGMA journal_mode = WAL, while no node runs'),
    check === 'ok' ? ok('file', `${size}, and sound`) : damaged(check),
    log <= LARGE_LOG
      ? ok('log', megabytes(log))
      : warn('log', megabytes(log), 'look for a process that reads for very long'),
  ]
}

function damaged(how: string): Finding {
  return fail(
    'file',
    how.replace(/^\*+ .* \*+\n/, '').replaceAll('\n', ', '),
    'restore it from a backup: it is damaged',
  )
}

/** Commits are made in a thread of their own. */
export function build(version: string, single: string): Finding {
  if (single === '1')
    return fail('SQLite', `version ${version}, built for one thread`, 'use a Node whose SQLite is thread-safe')
  return ok('SQLite', `version ${version}`)
}

/** A store that is full takes nothing more. */
export function disk({ bavail, blocks, bsize }: Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>): Finding {
  const found = `${megabytes(bavail * bsize)} are free`
  if (blocks > 0 && bavail / blocks < LEAST_FREE)
    return warn('disk', found, 'make room, or let retention drop what is old: a full disk stops everything')
  return ok('disk', found)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
