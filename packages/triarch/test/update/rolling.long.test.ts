import { join } from 'node:path'
import { rollingSuite } from './rolling.suite.ts'

rollingSuite('a SQLite file', async (folder) => join(folder, 'store.db'))
