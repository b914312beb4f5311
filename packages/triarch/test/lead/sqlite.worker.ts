import { sqlite } from '../../src/store/sqlite/index.ts'
import { leads } from './process.ts'

await leads(sqlite(process.argv[2] ?? ''))
