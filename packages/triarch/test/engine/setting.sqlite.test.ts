import { scratch } from './scratch.ts'
import { settingSuite } from './setting.suite.ts'

settingSuite('settings in a SQLite file', async () => {
  const { store, [Symbol.dispose]: dispose } = scratch()
  return { store, dispose: async () => dispose() }
})
