import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { Triarch, workflow } from 'triarch'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresTransaction, postgres } from '../src/index.ts'
import { drizzleOn, viaDrizzle } from './adapters/drizzle.ts'
import { kyselyOn, viaKysely } from './adapters/kysely.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const table = `via_orders_${process.pid}` as const
type Tables = Record<typeof table, { id: number }>
const orders = pgTable(table, { id: integer().notNull() })

const greet = workflow('greet', { run: async (n: number) => n })

/** Ways to have a transaction open: the body inserts an order, and submits a task `via` it. */
type Way = (pool: pg.Pool, body: (insert: () => Promise<unknown>, via: unknown) => Promise<void>) => Promise<void>
const ways: Record<string, Way> = {
  async 'a client of pg'(pool, body) {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await body(() => client.query(`INSERT INTO ${table} VALUES (1)`), client)
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  },
  async Kysely(pool, body) {
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    await db.transaction().execute(async (trx) => {
      await body(() => trx.insertInto(table).values({ id: 1 }).execute(), viaKysely(trx))
    })
  },
  async Drizzle(pool, body) {
    await drizzle(pool).transaction(async (tx) => {
      await body(() => tx.insert(orders).values({ id: 1 }), viaDrizzle(tx))
    })
  },
}

describe('a submission in the transaction of', () => {
  const schema = freshSchema()
  let pool: pg.Pool
  let triarch: Triarch
  const rows = async () => (await pool.query(`SELECT id FROM ${table}`)).rows.length

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: serverUrl(), max: 2 })
  })
  afterAll(async () => {
    await pool.query(`DROP TABLE ${table}`)
    await pool.end()
    await dropSchema(schema)
  })
  beforeEach(async () => {
    triarch = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [greet, booking] })
    await triarch.start()
    await pool.query(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (id integer)`)
  })
  afterEach(() => triarch.stop({ grace: 0 }))

  const booking = workflow('booking', {
    async run(_: null, task) {
      const byKysely = await task.transaction('kysely', async (tx: PostgresTransaction) => {
        const db = kyselyOn<Tables>(tx)
        await db.insertInto(table).values({ id: 2 }).execute()
        return db.selectFrom(table).select('id').execute()
      })
      const byDrizzle = await task.transaction('drizzle', async (tx: PostgresTransaction) => {
        const db = drizzleOn(tx)
        await db.insert(orders).values({ id: 3 })
        return db.select().from(orders)
      })
      return [byKysely, byDrizzle]
    },
  })

  it.each(Object.entries(ways))('%s exists once that commits, and runs', async (name, way) => {
    const id = `yes ${name}`
    await way(pool, async (insert, via) => {
      await insert()
      await triarch.submit(greet, 1, { id, via })
      expect(await rows()).toBe(0)
    })
    expect(await triarch.task(id).result()).toBe(1)
    expect(await rows()).toBe(1)
  })

  it.each(Object.entries(ways))('%s never was when that rolls back', async (name, way) => {
    const id = `no ${name}`
    const undone = way(pool, async (insert, via) => {
      await insert()
      await triarch.submit(greet, 1, { id, via })
      throw new Error('changed its mind')
    })
    await expect(undone).rejects.toThrow('changed its mind')
    await expect(triarch.task(id).status()).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    expect(await rows()).toBe(0)
  })

  it.each(Object.entries(ways))('%s is the same task when it exists already', async (name, way) => {
    const id = `twice ${name}`
    await triarch.submit(greet, 1, { id })
    await way(pool, async (_, via) => {
      expect((await triarch.submit(greet, 1, { id, via })).id).toBe(id)
      await expect(triarch.submit(greet, 2, { id, via })).rejects.toMatchObject({ code: 'TASK_EXISTS' })
    })
  })

  it.each(Object.entries(ways))('%s is the same task when it submits it twice', async (name, way) => {
    const id = `both ${name}`
    await way(pool, async (_, via) => {
      await triarch.submit(greet, 1, { id, via })
      expect((await triarch.submit(greet, 1, { id, via })).id).toBe(id)
      await expect(triarch.submit(greet, 2, { id, via })).rejects.toMatchObject({ code: 'TASK_EXISTS' })
    })
    expect(await triarch.task(id).result()).toBe(1)
  })

  it('nothing is refused: neither a pool nor a query builder outside of one will do', async () => {
    const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    for (const via of [pool, viaKysely(kysely as never), viaDrizzle(drizzle(pool)), {}]) {
      await expect(triarch.submit(greet, 1, { via })).rejects.toMatchObject({ code: 'STORE_VIA_INVALID' })
    }
  })

  it('query builders may be used in the transaction of a step', async () => {
    const task = await triarch.submit(booking, null)
    expect(await task.result()).toEqual([[{ id: 2 }], [{ id: 2 }, { id: 3 }]])
    expect(await rows()).toBe(2)
  })
})

describe('the guide to PostgreSQL', () => {
  it.each(['kysely', 'drizzle'])('shows the adapter for %s as it is tested', (name) => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/postgres.md'), 'utf8')
    const code = readFileSync(join(import.meta.dirname, `adapters/${name}.ts`), 'utf8')
    expect(page).toContain(`\`\`\`ts\n${code}\`\`\``)
  })
})
