import { afterAll } from 'vitest'
import { codecSuite } from '../../triarch/test/codec/codec.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, emptySchema, freshSchema, serverUrl, withClient } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

codecSuite(
  'PostgreSQL',
  async () => {
    return {
      store: postgres({ url: serverUrl(), schema }),
      dump: () =>
        withClient(async (client) => {
          const found = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 ORDER BY 1'
          const tables = (await client.query<{ name: string }>(found, [schema])).rows
          const texts: string[] = []
          for (const { name } of tables) {
            const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM "${schema}"."${name}" t`)
            texts.push(...rows.map(({ row }) => row))
          }
          return texts.join('\n')
        }),
      change: (sql) =>
        withClient(async (client) => {
          await client.query(sql((name) => `"${schema}".${name}`))
        }),
      dispose: () => emptySchema(schema),
    }
  },
  { brief: true },
)
