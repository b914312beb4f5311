import { scratch } from './scratch.ts'
import { skipSuite } from './skip.suite.ts'

skipSuite('an undo that waits for its next attempt, in a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
