import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { Migration } from '../../src/store/migration.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { migrations } from '../../src/store/sqlite/migrations/index.ts'
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
      oldest: async () => {
        using database = new DatabaseSync(path)
        return database
          .prepare('SELECT version FROM triarch_schema')
          .all()
          .map(({ version }) => Number(version))
      },
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
