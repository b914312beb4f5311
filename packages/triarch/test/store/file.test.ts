import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Database } from '../../src/store/sqlite/database.ts'
import { SameFile } from '../../src/store/sqlite/file.ts'
import { InlineRunner } from '../../src/store/sqlite/inline.ts'
import * as migrating from '../../src/store/sqlite/migrating.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { handClock } from './clock.ts'

let root: string
let path: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'triarch-'))
  path = join(root, 'store.db')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(root, { recursive: true })
})

describe('a file under its path', () => {
  const codeOf = (file: SameFile): string | null => {
    try {
      file.check()
      return null
    } catch (error) {
      const { code, message } = error as { code: string; message: string }
      return `${code} ${/deleted|replaced/.exec(message)}`
    }
  }

  it('is looked at once a second, and gone for ever once it was', () => {
    writeFileSync(path, '1')
    const clock = handClock()
    const file = new SameFile(clock, path)
    clock.advance(1_000)
    expect(codeOf(file)).toBeNull()
    renameSync(path, `${path}.old`)
    clock.advance(999)
    expect(codeOf(file)).toBeNull()
    clock.advance(1)
    expect(codeOf(file)).toBe('STORE_REPLACED deleted')
    renameSync(`${path}.old`, path)
    clock.advance(1_000)
    expect(codeOf(file)).toBe('STORE_REPLACED deleted')
  })

  it('is told from another of its name', () => {
    writeFileSync(path, '1')
    const clock = handClock()
    const file = new SameFile(clock, path)
    renameSync(path, `${path}.old`)
    writeFileSync(path, '1')
    clock.advance(999)
    expect(codeOf(file)).toBeNull()
    clock.advance(1)
    expect(codeOf(file)).toBe('STORE_REPLACED replaced')
  })
})

describe('a connection to a file', () => {
  /** Answers one question of the connection's as this other SQLite or file system would. */
  const answering = (question: string, answer: object) => {
    const get = Database.prototype.get
    vi.spyOn(Database.prototype, 'get').mockImplementation(function (this: Database, sql, ...values) {
      return sql.includes(question) ? (answer as never) : get.call(this, sql, ...values)
    })
  }
  const codeOf = (body: () => unknown) => {
    try {
      return body()
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  it('flushes each commit, and bounds its log', () => {
    const database = openDatabase(path, 0)
    const pragma = (name: string) => Object.values(database.get<object>(`PRAGMA ${name}`) ?? {})[0]
    const set = ['journal_mode', 'synchronous', 'wal_autocheckpoint', 'journal_size_limit', 'trusted_schema'] as const
    expect(set.map(pragma)).toEqual(['wal', 2, 4_000, 67_108_864, 0])
    database.close()
  })

  it('finds a record by its number, and reads none beside it', () => {
    const database = openDatabase(path, 0)
    const plan = 'EXPLAIN QUERY PLAN SELECT events FROM triarch_history WHERE task = 1 AND seq = 2'
    expect(database.get(plan)).toMatchObject({ detail: expect.stringMatching(/SEARCH .* INDEX .*task=\? AND seq=\?/) })
    // A tree of its own would have the texts between the numbers.
    const table = "SELECT wr AS tree FROM pragma_table_list('triarch_history')"
    expect(database.get(table)).toEqual({ tree: 0 })
    database.close()
  })

  it('is closed again where it cannot serve', () => {
    const close = vi.spyOn(DatabaseSync.prototype, 'close')
    answering('sqlite_version', { version: '3.51.2' })
    expect(codeOf(() => openDatabase(path, 0))).toBe('STORE_SQLITE_TOO_OLD')
    expect(close).toHaveBeenCalledTimes(1)
    vi.restoreAllMocks()
    const again = vi.spyOn(DatabaseSync.prototype, 'close')
    answering('journal_mode', { journal_mode: 'delete' })
    expect(codeOf(() => openDatabase(path, 0))).toBe('STORE_FAILED')
    expect(again).toHaveBeenCalledTimes(1)
    vi.restoreAllMocks()
    expect(codeOf(() => openDatabase(path, 0, 'refuse'))).toBe('STORE_SCHEMA_OLD')
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('prepares each statement once', () => {
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
    const database = new Database(new DatabaseSync(':memory:'))
    for (let n = 0; n < 3; n++) expect(database.get('SELECT ? AS n', n)).toEqual({ n })
    expect(prepare).toHaveBeenCalledTimes(1)
    database.close()
    expect(() => database.get('SELECT 1')).toThrow('not open')
  })

  it('waits for a lock no longer than a moment, and no longer than it may', async () => {
    const clock = handClock()
    const file = { path, migrate: 'auto' as const }
    for (const [busyTimeout, block] of [
      [10_000, 5],
      [3, 3],
    ] as const) {
      const inline = new InlineRunner(clock, path, busyTimeout)
      await inline.open()
      expect(inline.database.get('PRAGMA busy_timeout')).toEqual({ timeout: block })
      await inline.close()
      expect(() => inline.database).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
      const waits: unknown[] = []
      const all = Database.prototype.all
      vi.spyOn(Database.prototype, 'all').mockImplementation(function (this: Database, sql, ...values) {
        waits.push(this.get('PRAGMA busy_timeout'))
        return all.call(this, sql, ...values) as never
      })
      await migrating.migrateFile(clock, { ...file, busyTimeout }, { dryRun: true, patience: 0 })
      vi.restoreAllMocks()
      expect(waits[0]).toEqual({ timeout: block })
      expect(existsSync(`${path}-wal`)).toBe(false)
    }
  })
})
