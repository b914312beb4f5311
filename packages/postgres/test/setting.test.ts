import { settingSuite } from '../../triarch/test/engine/setting.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

settingSuite('settings on PostgreSQL', async () => {
  const schema = freshSchema()
  return { store: postgres({ url: serverUrl(), schema }), dispose: () => dropSchema(schema) }
})
