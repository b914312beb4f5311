import { tailSuite } from '../../triarch/test/tail/tail.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

tailSuite('PostgreSQL', async () => {
  const [schema, saved] = [freshSchema(), freshSchema()]
  const tables = async (query: (sql: string, values?: unknown[]) => Promise<{ rows: { name: string }[] }>) => {
    const sql = `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename NOT IN ('schema_version', 'migrations')`
    return (await query(sql, [schema])).rows.map(({ name }) => name)
  }
  const inOne = (body: (name: string) => string): Promise<void> =>
    withClient(async (client) => {
      await client.query('BEGIN')
      for (const name of await tables((sql, values) => client.query(sql, values))) await client.query(body(name))
      await client.query('COMMIT')
    }).catch((error: { code?: string }) => {
      // The nodes go on meanwhile, and take their locks in another order.
      if (error.code === '40P01') return inOne(body)
      throw error
    })
  return {
    store: () => postgres({ url: serverUrl(), schema }),
    save: async () => {
      await withClient((client) => client.query(`CREATE SCHEMA "${saved}"`))
      await inOne((name) => `CREATE TABLE "${saved}"."${name}" AS TABLE "${schema}"."${name}"`)
    },
    // As a standby that is promoted has it: nobody sees a moment in between.
    restore: () =>
      inOne(
        (name) => `LOCK TABLE "${schema}"."${name}" IN ACCESS EXCLUSIVE MODE; DELETE FROM "${schema}"."${name}";
          INSERT INTO "${schema}"."${name}" OVERRIDING SYSTEM VALUE SELECT * FROM "${saved}"."${name}"`,
      ),
    dispose: async () => {
      await dropSchema(saved)
      await dropSchema(schema)
    },
  }
})
