import { scratch } from './scratch.ts'
import { seatSuite } from './seat.suite.ts'

seatSuite('a concurrency that is shared on a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
