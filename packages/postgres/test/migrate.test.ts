import { migrate } from 'triarch'
import type { MigrationOrder, StoreFactory } from 'triarch/store'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { newTask } from '../../triarch/test/store/samples.ts'
import { migrateSuite } from '../../triarch/test/update/migrate.suite.ts'
import { postgres } from '../src/index.ts'
import { type Migration, migrations } from '../src/migrations/index.ts'
import { inSchema } from '../src/schema.ts'
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
    store: (options, more) =>
      knowing(postgres({ url: serverUrl(), schema, answerWithin: 86_400_000, ...options }), more),
    table: (name) => `triarch.${name}`,
    newer: (by) =>
      withClient(async (client) => {
        const sql =
          by === 'added'
            ? `INSERT INTO triarch.migrations VALUES ('9999', now())`
            : 'INSERT INTO triarch.schema_version VALUES (99, now())'
        await client.query(inSchema(sql, schema))
      }),
  }
})

let knowers = 0

/** The store, as code has it that knows these migrations besides: they are in the list of all while one of its calls migrates. */
function knowing(factory: StoreFactory, more: readonly Migration[] = []): StoreFactory {
  const all = migrations as Migration[]
  const during = async <T>(body: () => Promise<T>): Promise<T> => {
    if (more.length > 0 && knowers++ === 0) all.push(...more)
    try {
      return await body()
    } finally {
      if (more.length > 0 && --knowers === 0) all.splice(-more.length)
    }
  }
  return (environment) => {
    const store = factory(environment)
    const [open, migrate] = [store.open.bind(store), store.migrate.bind(store)]
    return Object.assign(store, {
      open: () => during(open),
      migrate: (order: MigrationOrder) => during(() => migrate(order)),
    })
  }
}

describe('a migration of PostgreSQL', () => {
  it('beside a backup waits for it without keeping others from their tables, and says why', async () => {
    const schema = made()
    const store = postgres({ url: serverUrl(), schema })
    const running = store(systemEnvironment())
    await running.open()
    const change = { name: '9998', sql: 'ALTER TABLE triarch.tasks ADD COLUMN later integer' }
    ;(migrations as (typeof change)[]).push(change)
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
      ;(migrations as (typeof change)[]).pop()
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
