import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { Triarch, workflow } from 'triarch'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresTransaction, postgres } from '../src/index.ts'
import { drizzleOn, viaDrizzle } from './adapters/drizzle.ts'
import { knexOn, viaKnex } from './adapters/knex.ts'
import { kyselyOn, viaKysely } from './adapters/kysely.ts'
import { viaPostgresJs } from './adapters/postgres.ts'
import { prismaOn, viaPrisma } from './adapters/prisma.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'
import { PrismaClient } from './prisma/generated/client.ts'

const table = 'via_orders'
type Tables = Record<typeof table, { id: number }>
const orders = pgTable(table, { id: integer().notNull() })

const greet = workflow('greet', { run: async (n: number) => n })

/** Ways to have a transaction open: the body inserts an order, and submits a task in it. */
type Way = (
  pool: pg.Pool,
  body: (insert: () => Promise<unknown>, transaction: unknown) => Promise<void>,
) => Promise<void>
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
  async Knex(_, body) {
    const db = knex({ client: 'pg', connection: serverUrl(), pool: { min: 0, max: 1 } })
    try {
      await db.transaction((trx) => body(() => trx(table).insert({ id: 1 }), viaKnex(trx)))
    } finally {
      await db.destroy()
    }
  },
  async 'postgres.js'(_, body) {
    const sql = postgresJs(serverUrl(), { max: 1 })
    try {
      await sql.begin((tx) => body(() => tx`INSERT INTO ${tx(table)} VALUES (1)`, viaPostgresJs(tx)))
    } finally {
      await sql.end()
    }
  },
  async Prisma(pool, body) {
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
    await prisma.$transaction((tx) => body(() => tx.order.create({ data: { id: 1 } }), viaPrisma(tx)))
    await prisma.$disconnect()
  },
}

describe('a submission in the transaction of', () => {
  const schema = freshSchema()
  let pool: pg.Pool
  let triarch: Triarch
  const rows = async () => (await pool.query(`SELECT id FROM ${table}`)).rows.length

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: serverUrl(), max: 2 })
    triarch = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [greet, booking] })
    await triarch.start()
  })
  afterAll(async () => {
    await triarch.stop({ grace: 0 })
    await pool.query(`DROP TABLE ${table}`)
    await pool.end()
    await dropSchema(schema)
  })
  beforeEach(() => pool.query(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (id integer)`))

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
      const byKnex = await task.transaction('knex', async (tx: PostgresTransaction) => {
        const db = knexOn(tx)
        await db(table).insert({ id: 4 })
        return db<{ id: number }>(table).select('id')
      })
      const byPrisma = await task.transaction('prisma', async (tx: PostgresTransaction) => {
        const db = prismaOn(tx)
        await db.order.create({ data: { id: 5 } })
        return db.order.findMany()
      })
      return [byKysely, byDrizzle, byKnex, byPrisma]
    },
  })

  it.each(Object.entries(ways))('%s exists once that commits, and runs', async (name, way) => {
    const id = `yes ${name}`
    await way(pool, async (insert, transaction) => {
      await insert()
      await triarch.submit(greet, 1, { id, transaction })
      expect(await rows()).toBe(0)
    })
    expect(await triarch.tasks.get(id).result()).toBe(1)
    expect(await rows()).toBe(1)
  })

  it.each(Object.entries(ways))('%s never was when that rolls back', async (name, way) => {
    const id = `no ${name}`
    const undone = way(pool, async (insert, transaction) => {
      await insert()
      await triarch.submit(greet, 1, { id, transaction })
      throw new Error('changed its mind')
    })
    await expect(undone).rejects.toThrow('changed its mind')
    await expect(triarch.tasks.get(id).status()).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    expect(await rows()).toBe(0)
  })

  it.each(Object.entries(ways))('%s is the same task when it exists already', async (name, way) => {
    const id = `twice ${name}`
    await triarch.submit(greet, 1, { id })
    await way(pool, async (_, transaction) => {
      expect((await triarch.submit(greet, 1, { id, transaction })).id).toBe(id)
      await expect(triarch.submit(greet, 2, { id, transaction })).rejects.toMatchObject({ code: 'TASK_EXISTS' })
    })
  })

  it.each(Object.entries(ways))('%s is the same task when it submits it twice', async (name, way) => {
    const id = `both ${name}`
    await way(pool, async (_, transaction) => {
      await triarch.submit(greet, 1, { id, transaction })
      expect((await triarch.submit(greet, 1, { id, transaction })).id).toBe(id)
      await expect(triarch.submit(greet, 2, { id, transaction })).rejects.toMatchObject({ code: 'TASK_EXISTS' })
    })
    expect(await triarch.tasks.get(id).result()).toBe(1)
  })

  it('a list of tasks goes with it, or none of them, a thousand in one call', async () => {
    const client = await pool.connect()
    const query = client.query.bind(client)
    let asked = 0
    client.query = ((...args: Parameters<typeof query>) => {
      asked++
      return query(...args)
    }) as typeof client.query
    const entries = Array.from({ length: 1_500 }, (_, n) => ({ input: n, id: `list-${n}` }))
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await query('BEGIN')
      asked = 0
      const results = await triarch.submitMany(greet, entries, { transaction: client })
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true)
      expect(asked).toBeLessThanOrEqual(2 * 2)
      await query(end)
      const first = triarch.tasks.get('list-0').status()
      if (end === 'COMMIT') expect(await first).toMatchObject({ id: 'list-0' })
      else await expect(first).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    }
    client.query = query as typeof client.query
    client.release()
    expect(await triarch.tasks.get('list-1499').result()).toBe(1_499)
  })

  it('nothing is refused: neither a pool nor a query builder outside of one will do', async () => {
    const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    const db = knex({ client: 'pg', connection: serverUrl(), pool: { min: 0, max: 1 } })
    const sql = postgresJs(serverUrl(), { max: 1 })
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
    const builders = [
      viaKysely(kysely as never),
      viaDrizzle(drizzle(pool)),
      viaKnex(db as never),
      viaPostgresJs(sql as never),
      viaPrisma(prisma),
    ]
    for (const transaction of [pool, ...builders, {}]) {
      await expect(triarch.submit(greet, 1, { transaction })).rejects.toMatchObject({
        code: 'STORE_TRANSACTION_INVALID',
      })
    }
    await Promise.all([db.destroy(), sql.end(), prisma.$disconnect()])
  })

  it('query builders may be used in the transaction of a step', async () => {
    const task = await triarch.submit(booking, null)
    const ids = [2, 3, 4, 5].map((id) => ({ id }))
    expect(await task.result()).toEqual([ids.slice(0, 1), ids.slice(0, 2), ids.slice(0, 3), ids])
    expect(await rows()).toBe(4)
  })
})

describe('the guide to PostgreSQL', () => {
  it.each(['kysely', 'drizzle', 'knex', 'postgres', 'prisma'])('shows the adapter for %s as it is tested', (name) => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/postgres.md'), 'utf8')
    const code = readFileSync(join(import.meta.dirname, `adapters/${name}.ts`), 'utf8')
    expect(page).toContain(`\`\`\`ts\n${code}\`\`\``)
  })
})
