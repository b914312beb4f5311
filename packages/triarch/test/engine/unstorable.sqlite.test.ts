import { scratch } from './scratch.ts'
import { unstorableSuite } from './unstorable.suite.ts'

unstorableSuite('a text that no store can keep, on SQLite', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
