import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'triarch/sqlite'
import { proberSuite } from './prober.suite.ts'

proberSuite('a prober on SQLite', join(import.meta.dirname, 'prober.process.ts'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-prober-'))
  const file = join(folder, 'store.db')
  return { store: sqlite(file), target: file, dispose: async () => rmSync(folder, { recursive: true, force: true }) }
})
