import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { Subject } from './conformance.ts'

async function sql(tx: unknown, text: string): Promise<unknown> {
  const row = (tx as DatabaseSync).prepare(text).get()
  return row && Object.values(row)[0]
}

const table = (name: string): string => `triarch_${name}`

/** A store in memory. */
export async function inMemory(): Promise<Subject> {
  const transaction = () => Promise.reject(new Error('memory has one connection'))
  return { store: sqlite(':memory:'), transaction, sql, table, dispose: async () => undefined }
}

/** A store in a file of its own folder, whose writes run where `writer` says. */
export function inFile(writer: 'auto' | 'inline' | 'worker'): () => Promise<Subject> {
  return async () => {
    const root = mkdtempSync(join(tmpdir(), 'triarch-'))
    const path = join(root, 'store.db')
    return {
      // The suite's clock runs ahead while it waits, the locks are real: no patience by that clock would be enough.
      store: sqlite(path, { writer, busyTimeout: 86_400_000 }),
      transaction: async (body) => {
        using database = new DatabaseSync(path)
        database.exec('BEGIN IMMEDIATE')
        try {
          await body(database)
          database.exec('COMMIT')
        } catch (error) {
          database.exec('ROLLBACK')
          throw error
        }
      },
      sql,
      table,
      dispose: async () => rmSync(root, { recursive: true }),
    }
  }
}
