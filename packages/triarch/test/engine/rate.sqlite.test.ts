import { rateSuite } from './rate.suite.ts'
import { scratch } from './scratch.ts'

rateSuite('a rate limit on a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
