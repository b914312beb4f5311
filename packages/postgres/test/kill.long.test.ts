import { join } from 'node:path'
import { killSuite } from '../../triarch/test/kill/process.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

killSuite('what processes share on PostgreSQL', join(import.meta.dirname, 'kill.worker.ts'), async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  return { store: postgres(options), target: JSON.stringify(options), dispose: () => dropSchema(schema) }
})
