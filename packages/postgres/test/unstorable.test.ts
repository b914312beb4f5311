import { unstorableSuite } from '../../triarch/test/engine/unstorable.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

unstorableSuite('a text that no store can keep, on PostgreSQL', async () => {
  const schema = freshSchema()
  return { store: postgres({ url: serverUrl(), schema }), dispose: () => dropSchema(schema) }
})
