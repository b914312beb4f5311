import { join } from 'node:path'
import { leadSuite } from '../../triarch/test/lead/process.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

leadSuite('a process that leads on PostgreSQL', join(import.meta.dirname, 'lead.worker.ts'), async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  return { store: postgres(options), target: JSON.stringify(options), dispose: () => dropSchema(schema) }
})
