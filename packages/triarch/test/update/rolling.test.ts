import { join } from 'node:path'
import { fileOfBefore } from './before.ts'
import { rollingSuite } from './rolling.suite.ts'

rollingSuite('a SQLite file', async (folder) => {
  const path = join(folder, 'store.db')
  fileOfBefore(path)
  return path
})
