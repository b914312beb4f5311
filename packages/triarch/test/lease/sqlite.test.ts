import { join } from 'node:path'
import { scratch } from '../engine/scratch.ts'
import { leaseSuite } from './lease.suite.ts'

const module = join(import.meta.dirname, 'sqlite.worker.ts')

leaseSuite('the lease of a process on SQLite', module, async () => {
  const { path, store, [Symbol.dispose]: dispose } = scratch()
  return { store, target: path, dispose: async () => dispose() }
})
