import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { scratch } from '../engine/scratch.ts'
import { leaseSuite } from './lease.suite.ts'

const module = join(import.meta.dirname, 'sqlite.worker.ts')

leaseSuite('the lease of a process on SQLite', module, ['the write lock'], async () => {
  const { path, store, [Symbol.dispose]: dispose } = scratch()
  const hold = async () => {
    const database = new DatabaseSync(path, { timeout: 10_000 })
    database.exec('BEGIN IMMEDIATE')
    return async () => database.close()
  }
  const hasty = sqlite(path, { busyTimeout: 1_000 })
  return { store, hasty, target: path, holds: { 'the write lock': hold }, dispose: async () => dispose() }
})
