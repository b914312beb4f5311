import { sqlite } from '../../src/store/sqlite/index.ts'
import { errands, serve } from './process.ts'

const [path = '', options = ''] = process.argv.slice(2)
await serve(sqlite(path), JSON.parse(options), errands)
