import { clientSuite, served } from '../../client/test/suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

async function open() {
  const schema = freshSchema()
  const { client, ...place } = await served(postgres({ url: serverUrl(), schema }))
  return {
    client,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]()
      await dropSchema(schema)
    },
  }
}

clientSuite('over HTTP, the server on PostgreSQL', open, { brief: true })
