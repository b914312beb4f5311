import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { Subject } from '../store/conformance.ts'
import { storeModel } from './store.model.ts'

const transaction = () => Promise.reject(new Error('the model uses no transaction of its own'))

async function inMemory(): Promise<Subject> {
  return {
    store: sqlite(':memory:'),
    transaction,
    sql: transaction,
    table: (name) => name,
    dispose: async () => undefined,
  }
}

function inFile(writer: 'inline' | 'worker'): () => Promise<Subject> {
  return async () => {
    const root = mkdtempSync(join(tmpdir(), 'triarch-'))
    const store = sqlite(join(root, 'store.db'), { writer, busyTimeout: 86_400_000 })
    return {
      store,
      transaction,
      sql: transaction,
      table: (name) => name,
      dispose: async () => rmSync(root, { recursive: true }),
    }
  }
}

storeModel('the SQLite store in memory', inMemory, { shared: false, runs: 100 })
storeModel('two SQLite stores in this thread on one file', inFile('inline'), { shared: true, runs: 30 })
storeModel('two SQLite stores in threads of their own on one file', inFile('worker'), { shared: true, runs: 4 })
