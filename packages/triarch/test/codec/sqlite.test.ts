import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { codecSuite } from './codec.suite.ts'

codecSuite('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-'))
  const path = join(folder, 'store.db')
  return {
    store: sqlite(path),
    // The file, its log, and whatever else may lie beside it, free pages among them.
    dump: async () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('\n'),
    change: async (sql) => {
      using database = new DatabaseSync(path)
      database.exec(sql((name) => `triarch_${name}`))
    },
    dispose: async () => rmSync(folder, { recursive: true }),
  }
})
