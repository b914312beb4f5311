import { join } from 'node:path'
import { flightSuite } from '../../triarch/test/cache/process.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

flightSuite('a process that asks, on PostgreSQL', join(import.meta.dirname, 'flight.worker.ts'), async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  return { store: postgres(options), target: JSON.stringify(options), dispose: () => dropSchema(schema) }
})
