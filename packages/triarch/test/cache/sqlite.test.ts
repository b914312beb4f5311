import { join } from 'node:path'
import { scratch } from '../engine/scratch.ts'
import { flightSuite } from './process.suite.ts'

flightSuite('a process that asks, on SQLite', join(import.meta.dirname, 'sqlite.worker.ts'), async () => {
  const { path, store, [Symbol.dispose]: dispose } = scratch()
  return { store, target: path, dispose: async () => dispose() }
})
