import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { migrateSuite } from './migrate.suite.ts'

const root = mkdtempSync(join(tmpdir(), 'triarch-migrate-'))
let files = 0
afterAll(() => rmSync(root, { recursive: true }))

for (const writer of ['inline', 'worker'] as const) {
  migrateSuite(`a SQLite file (${writer})`, async () => {
    const path = join(root, `${++files}.db`)
    return {
      store: (options) => sqlite(path, { writer, ...options }),
      newer: async (by) => {
        using database = new DatabaseSync(path)
        database.exec(
          by === 'added' ? `INSERT INTO triarch_migrations VALUES ('9999')` : 'UPDATE triarch_schema SET version = 99',
        )
      },
    }
  })
}
