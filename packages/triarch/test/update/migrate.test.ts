import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/client/migrate.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { type Migration, migrations } from '../../src/store/sqlite/migrations/index.ts'
import { SqliteStore } from '../../src/store/sqlite/store.ts'
import { migrateSuite } from './migrate.suite.ts'

const root = mkdtempSync(join(tmpdir(), 'triarch-migrate-'))
let files = 0
afterAll(() => rmSync(root, { recursive: true }))

const made = () => join(root, `${++files}.db`)

/** The store, as code opens it that knows these migrations. */
const knowing =
  (path: string, known: readonly Migration[], options: Partial<SqliteSettings> = {}): StoreFactory =>
  (environment) =>
    new SqliteStore(environment, {
      ...{ path, writer: 'inline', busyTimeout: 10_000, migrate: 'auto' },
      ...options,
      migrations: known,
    })
type SqliteSettings = ConstructorParameters<typeof SqliteStore>[1]

for (const writer of ['inline', 'worker'] as const) {
  migrateSuite(`a SQLite file (${writer})`, async () => {
    const path = made()
    return {
      store: (options, more) =>
        more ? knowing(path, [...migrations, ...more], { writer, ...options }) : sqlite(path, { writer, ...options }),
      table: (name) => `triarch_${name}`,
      newer: async (by) => {
        using database = new DatabaseSync(path)
        database.exec(
          by === 'added'
            ? `INSERT INTO triarch_migrations (name) VALUES ('9999')`
            : 'UPDATE triarch_schema SET version = 99',
        )
      },
    }
  })
}

describe('a migration of a SQLite file that contracts', () => {
  const contracting: Migration = { name: '9002', sql: 'DROP TABLE triarch_probes', contracts: true }
  const expanding: Migration = { name: '9003', sql: 'ALTER TABLE triarch_tasks ADD COLUMN later TEXT' }

  it('takes the store from code that does not know it, and from nobody else', async () => {
    const path = made()
    await migrate(sqlite(path))
    const later = knowing(path, [...migrations, contracting, expanding])
    expect((await migrate(later)).done).toEqual(['9002', '9003'])
    const refused = { code: 'STORE_SCHEMA_NEWER', details: { found: 9002, known: 1 } }
    await expect(migrate(sqlite(path))).rejects.toMatchObject(refused)
    expect(await migrate(knowing(path, [...migrations, contracting]))).toEqual({ pending: [], done: [] })
    expect(await migrate(later)).toEqual({ pending: [], done: [] })
  })

  it('keeps code that does not know it from a new store, too', async () => {
    const path = made()
    await migrate(knowing(path, [...migrations, contracting, expanding]))
    await expect(migrate(sqlite(path))).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER', details: { found: 9002 } })
  })

  it('that only adds leaves the store to all', async () => {
    const path = made()
    await migrate(knowing(path, [...migrations, expanding]))
    expect(await migrate(sqlite(path))).toEqual({ pending: [], done: [] })
    using database = new DatabaseSync(path)
    expect(database.prepare('SELECT version FROM triarch_schema').all()).toEqual([{ version: 0 }])
  })
})
