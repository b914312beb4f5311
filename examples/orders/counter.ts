// Where orders are taken: the shop's own row and the task come into being together, or not at all. A repeated order finds
// both there and is harmless. The same for either database.
import { DatabaseSync } from 'node:sqlite'
import { postgres } from '@triarch/postgres'
import pg from 'pg'
import type { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import type { StoreFactory } from 'triarch/store'
import { fulfilOrder, type Order } from './shop.ts'

export interface Counter {
  /** Resolves when the order and its task are durable. */
  place(order: Order): Promise<void>
}

/** The tasks' home: `postgres://…`, or a file of SQLite's. */
export function storeAt(place: string): StoreFactory {
  return isPostgres(place) ? postgres(place) : sqlite(place)
}

/** Opens the shop's own table, in the same database as the tasks of the Triarch. */
export async function openCounter(place: string, triarch: Triarch): Promise<Counter> {
  return isPostgres(place) ? await openPostgres(place, triarch) : openSqlite(place, triarch)
}

/** The ids in the shop's own table. */
export async function ordersAt(place: string): Promise<string[]> {
  const all = 'SELECT id FROM orders'
  if (!isPostgres(place)) {
    using file = new DatabaseSync(place, { readOnly: true })
    return file
      .prepare(all)
      .all()
      .map(({ id }) => String(id))
  }
  const client = new pg.Client({ connectionString: place })
  await client.connect()
  try {
    return (await client.query<{ id: string }>(all)).rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}

function isPostgres(place: string): boolean {
  return /^postgres(?:ql)?:/.test(place)
}

function openSqlite(file: string, triarch: Triarch): Counter {
  const db = new DatabaseSync(file, { timeout: 2_000 })
  db.exec(`
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS orders (
      id TEXT PRIMARY KEY, item TEXT NOT NULL, total INTEGER NOT NULL, email TEXT NOT NULL, at INTEGER NOT NULL
    ) STRICT;
  `)
  const insert = db.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')
  const place = async (order: Order) => {
    db.exec('BEGIN IMMEDIATE')
    try {
      insert.run(order.id, order.item, order.total, order.email, Date.now())
      await triarch.submit(fulfilOrder, order, { id: order.id, transaction: db })
      db.exec('COMMIT')
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
  // A connection has one transaction at a time, so orders are placed one after the other.
  let last: Promise<unknown> = Promise.resolve()
  return {
    place(order) {
      const placed = last.then(() => place(order))
      last = placed.catch(() => undefined)
      return placed
    },
  }
}

async function openPostgres(url: string, triarch: Triarch): Promise<Counter> {
  const pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
  // A connection may end at any time. Whoever uses it hears of that from its query; without a listener it would end us all.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  await pool.query(`
    CREATE TABLE IF NOT EXISTS orders (
      id text PRIMARY KEY, item text NOT NULL, total integer NOT NULL, email text NOT NULL, at timestamptz NOT NULL
    )
  `)
  return {
    async place(order) {
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        await client.query('BEGIN')
        const row = [order.id, order.item, order.total, order.email]
        await client.query('INSERT INTO orders VALUES ($1, $2, $3, $4, now()) ON CONFLICT (id) DO NOTHING', row)
        await triarch.submit(fulfilOrder, order, { id: order.id, transaction: client })
        await client.query('COMMIT')
      } catch (error) {
        // Whatever state the connection is in: it is not used again, and the server rolls back what was open on it.
        broken = error as Error
        throw error
      } finally {
        client.release(broken)
      }
    },
  }
}
