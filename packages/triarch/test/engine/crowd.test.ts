import { crowdSuite } from './crowd.suite.ts'
import { scratch } from './scratch.ts'

crowdSuite('a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
