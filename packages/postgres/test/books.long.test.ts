import { afterAll, describe, expect, it } from 'vitest'
import { expected, killBookkeepers, type Order } from '../../triarch/test/crash/books.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

describe('transactions of processes that are killed', () => {
  const schema = freshSchema()
  afterAll(() => dropSchema(schema))

  it('take effect exactly once on PostgreSQL', { timeout: 600_000 }, async () => {
    await withClient((client) =>
      client.query(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".entries (task text, kind text)`),
    )
    const orders = new Map<string, Order>(Array.from({ length: 60 }, (_, n) => [`t${n}`, { refused: n % 4 === 0 }]))
    const worker = new URL('books.worker.ts', import.meta.url)
    const store = postgres({ url: serverUrl(), schema })
    const deaths = await killBookkeepers({ worker, args: [serverUrl(), schema], store, seed: 1 }, orders)
    expect(deaths).toBeGreaterThan(3)
    const { rows } = await withClient((client) =>
      client.query(`SELECT task, kind FROM "${schema}".entries ORDER BY kind COLLATE "C"`),
    )
    for (const [id, order] of orders) {
      const made = rows.filter(({ task }) => task === id).map(({ kind }) => kind)
      expect(made, id).toEqual(expected(order))
    }
  })
})
