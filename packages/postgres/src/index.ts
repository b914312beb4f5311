/** The PostgreSQL state store of Triarch. */

import type pg from 'pg'
import type { StoreFactory } from 'triarch/store'
import { type PostgresOptions, settingsOf } from './options.ts'
import { PostgresStore } from './store.ts'

export type { PostgresOptions } from './options.ts'

/** What `task.transaction` gives to write with: a client of `pg` with an open transaction. */
export type PostgresTransaction = pg.ClientBase

/**
 * The state store on PostgreSQL 14 to 18, shared by any number of processes on any number of machines. Throws
 * UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const store = postgres({ url: process.env.DATABASE_URL ?? 'postgres://localhost/shop', schema: 'tasks' })
 * const triarch = new Triarch({ store })
 */
export function postgres(options: string | PostgresOptions): StoreFactory {
  const settings = settingsOf(options)
  return (environment) => new PostgresStore(environment, settings)
}
