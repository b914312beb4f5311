import { join } from 'node:path'
import { scratch } from '../engine/scratch.ts'
import { leadSuite } from './process.suite.ts'

leadSuite('a process that leads on SQLite', join(import.meta.dirname, 'sqlite.worker.ts'), async () => {
  const { path, store, [Symbol.dispose]: dispose } = scratch()
  return { store, target: path, dispose: async () => dispose() }
})
