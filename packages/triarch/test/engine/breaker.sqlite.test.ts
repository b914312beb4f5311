import { breakerSuite } from './breaker.suite.ts'
import { scratch } from './scratch.ts'

breakerSuite('a circuit breaker on a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
