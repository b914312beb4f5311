import { join } from 'node:path'
import { leaseSuite } from '../../triarch/test/lease/lease.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const module = join(import.meta.dirname, 'lease.worker.ts')

leaseSuite('the lease of a process on PostgreSQL', module, async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  return { store: postgres(options), target: JSON.stringify(options), dispose: () => dropSchema(schema) }
})
