import { join } from 'node:path'
import { scratch } from '../engine/scratch.ts'
import { killSuite } from './process.suite.ts'

killSuite('what processes share on SQLite', join(import.meta.dirname, 'sqlite.worker.ts'), async () => {
  const { path, store, [Symbol.dispose]: dispose } = scratch()
  return { store, target: path, dispose: async () => dispose() }
})
