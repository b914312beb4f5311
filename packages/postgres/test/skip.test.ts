import { skipSuite } from '../../triarch/test/engine/skip.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

skipSuite('an undo that waits for its next attempt, on PostgreSQL', async () => {
  const schema = freshSchema()
  return { store: postgres({ url: serverUrl(), schema }), dispose: () => dropSchema(schema) }
})
