/** The PostgreSQL state store of Triarch. */

import type pg from 'pg'
import type { StoreFactory } from 'triarch/store'
import { type PostgresOptions, settingsOf } from './options.ts'
import { PostgresStore } from './store.ts'

export type { PostgresOptions, ReadFrom } from './options.ts'

/**
 * The connection that `task.transaction` passes to its function: a client of `pg` with an open transaction.
 * @example
 * await task.transaction('book', async (tx: PostgresTransaction) => {
 *   await tx.query('INSERT INTO bookings (id) VALUES ($1)', [task.id])
 *   return null
 * })
 *
 */
export type PostgresTransaction = pg.ClientBase

/**
 * Returns a state store on PostgreSQL 14 to 19, which any number of processes on any number of machines can share.
 * Throws UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const url = process.env.DATABASE_URL ?? 'postgres://localhost/shop'
 * const store = postgres({ url, schema: 'tasks' })
 * const triarch = new Triarch({ store })
 *
 */
export function postgres(options: string | PostgresOptions): StoreFactory {
  const settings = settingsOf(options)
  return (environment) => new PostgresStore(environment, settings)
}
