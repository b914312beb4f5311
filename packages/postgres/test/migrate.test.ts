import { migrate } from 'triarch'
import type { Migration, StoreFactory } from 'triarch/store'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { newTask } from '../../triarch/test/store/samples.ts'
import { migrateSuite } from '../../triarch/test/update/migrate.suite.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { settingsOf } from '../src/options.ts'
import { inSchema } from '../src/schema.ts'
import { PostgresStore } from '../src/store.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

const schemas: string[] = []
const made = () => {
  const schema = freshSchema()
  schemas.push(schema)
  return schema
}
afterAll(async () => {
  for (const schema of schemas) await dropSchema(schema)
})

migrateSuite('PostgreSQL', async () => {
  const schema = made()
  return {
    // The suite's clock runs ahead while it waits, the server's answers are real.
    store: (options, more) => knowing({ url: serverUrl(), schema, answerWithin: 86_400_000, ...options }, more),
    table: (name) => `triarch.${name}`,
    oldest: () =>
      withClient(async (client) => {
        const { rows } = await client.query(inSchema('SELECT version FROM triarch.schema_version', schema))
        return rows.map(({ version }) => Number(version))
      }),
    newer: (by) =>
      withClient(async (client) => {
        const sql =
          by === 'added'
            ? `INSERT INTO triarch.migrations (name, at) VALUES ('9999', now())`
            : 'UPDATE triarch.schema_version SET version = 99'
        await client.query(inSchema(sql, schema))
      }),
  }
})

/** The store, as code has it that knows these migrations besides. */
function knowing(options: PostgresOptions, more: readonly Migration[] = []): StoreFactory {
  const settings = { ...settingsOf(options), migrations: [...migrations, ...more] }
  return (environment) => new PostgresStore(environment, settings)
}

describe('a migration of PostgreSQL', () => {
  it('beside a backup waits for it without keeping others from their tables, and says why', async () => {
    const schema = made()
    const options = { url: serverUrl(), schema }
    const running = postgres(options)(systemEnvironment())
    await running.open()
    const store = knowing(options, [{ name: '9998', sql: 'ALTER TABLE triarch.tasks ADD COLUMN later integer' }])
    try {
      await withClient(async (backup) => {
        await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
        await backup.query(inSchema('SELECT count(*) FROM triarch.tasks', schema))
        const blocked = { code: 'STORE_BUSY', details: { migration: '9998' } }
        await expect(migrate(store, { lockTimeout: 300 })).rejects.toMatchObject(blocked)
        const migrated = migrate(store)
        await vi.waitFor(() => expectWaiting(backup, schema))
        expect(await running.submit([newTask('t')])).toMatchObject([{ created: true }])
        await backup.query('COMMIT')
        expect(await migrated).toEqual({ pending: ['9998'], done: ['9998'] })
      })
      expect(await running.task('t')).toMatchObject({ id: 't' })
    } finally {
      await running.close()
    }
  })
})

/** Somebody stands in line for the table. */
async function expectWaiting(
  client: { query: (sql: string, values: unknown[]) => Promise<{ rowCount: number | null }> },
  schema: string,
) {
  const sql = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass`
  expect((await client.query(sql, [`"${schema}".tasks`])).rowCount).toBe(1)
}
