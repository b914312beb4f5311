import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A log that is larger than this was not written back for long (bytes). */
const LARGE_LOG = 256 * 1024 * 1024

/** The library, the file, and how it is written. */
export function sqliteFindings(path: string): Finding[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const one = (sql: string) => String(Object.values(database.prepare(sql).get() ?? {})[0] ?? '')
    const journal = one('PRAGMA journal_mode')
    const check = one('PRAGMA quick_check(1)')
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const size = megabytes(statSync(path).size)
    return [
      ok('SQLite', `version ${one('SELECT sqlite_version()')}`),
      journal === 'wal'
        ? ok('journal', 'write-ahead log')
        : fail('journal', `mode ${journal}`, 'PRAGMA journal_mode = WAL, while no node runs'),
      check === 'ok'
        ? ok('file', `${size}, and sound`)
        : fail('file', check, 'restore it from a backup: it is damaged'),
      log <= LARGE_LOG
        ? ok('log', megabytes(log))
        : warn('log', megabytes(log), 'look for a process that reads for very long'),
    ]
  } finally {
    database.close()
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
