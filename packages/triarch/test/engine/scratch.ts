import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '../../src/store/sqlite/index.ts'

/** A store in a file of its own that several engines can open, one after the other or at once. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-'))
  const path = join(folder, 'store.db')
  return {
    path,
    store: sqlite(path, { writer: 'inline' }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
