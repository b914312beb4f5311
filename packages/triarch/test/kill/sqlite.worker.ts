import { sqlite } from '../../src/store/sqlite/index.ts'
import { works } from './process.ts'

await works(sqlite(process.argv[2] ?? ''))
