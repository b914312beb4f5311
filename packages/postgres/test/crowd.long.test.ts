import { crowdSuite } from '../../triarch/test/engine/crowd.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

crowdSuite('PostgreSQL', async () => {
  const schema = freshSchema()
  return { store: postgres({ url: serverUrl(), schema }), dispose: () => dropSchema(schema) }
})
