import { repeatSuite } from './repeat.suite.ts'
import { scratch } from './scratch.ts'

repeatSuite('a value that is handed on, on a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
