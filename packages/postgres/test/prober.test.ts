import { join } from 'node:path'
import { proberSuite } from '../../server/test/prober.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

proberSuite('a prober on PostgreSQL', join(import.meta.dirname, 'prober.worker.ts'), async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  return { store: postgres(options), target: JSON.stringify(options), dispose: () => dropSchema(schema) }
})
