import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { scratch } from '../engine/scratch.ts'
import { expected, killBookkeepers, type Order } from './books.ts'

describe('transactions of processes that are killed', () => {
  it('take effect exactly once on SQLite', { timeout: 600_000 }, async () => {
    using file = scratch()
    using database = new DatabaseSync(file.path)
    database.exec('CREATE TABLE entries (task TEXT, kind TEXT)')
    const orders = new Map<string, Order>(Array.from({ length: 60 }, (_, n) => [`t${n}`, { refused: n % 4 === 0 }]))
    const worker = new URL('books.worker.ts', import.meta.url)
    const deaths = await killBookkeepers({ worker, args: [file.path], store: file.store, seed: 1 }, orders)
    expect(deaths).toBeGreaterThan(3)
    const entries = database.prepare('SELECT task, kind FROM entries ORDER BY kind').all()
    for (const [id, order] of orders) {
      const made = entries.filter(({ task }) => task === id).map(({ kind }) => kind)
      expect(made, id).toEqual(expected(order))
    }
  })
})
