import { sqlite } from '../../src/store/sqlite/index.ts'
import { asks } from './process.ts'

await asks(sqlite(process.argv[2] ?? ''))
