import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { tailSuite } from './tail.suite.ts'

for (const writer of ['inline', 'worker'] as const) {
  tailSuite(`a SQLite file (${writer})`, async () => {
    const root = mkdtempSync(join(tmpdir(), 'triarch-tail-'))
    const [path, copy] = [join(root, 'store.db'), join(root, 'copy.db')]
    // Others write meanwhile: then it begins anew.
    const copied = (from: string, to: string) =>
      vi.waitFor(async () => {
        using source = new DatabaseSync(from, { timeout: 5_000 })
        await backup(source, to, { rate: 1_000_000 })
      }, 10_000)
    return {
      store: () => sqlite(path, { writer }),
      save: () => copied(path, copy),
      restore: () => copied(copy, path),
      dispose: async () => rmSync(root, { recursive: true, force: true }),
    }
  })
}
