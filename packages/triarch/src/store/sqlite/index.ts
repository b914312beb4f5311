import type { DatabaseSync } from 'node:sqlite'
import { TriarchError } from '../../error/error.ts'
import type { StoreFactory } from '../factory.ts'
import { type SqliteSettings, SqliteStore } from './store.ts'

export interface SqliteOptions {
  /** Where commits run: in this thread, in one of their own, or by what a commit takes here (the default). */
  writer?: SqliteSettings['writer']
  /** How long to wait for other processes' transactions (ms) before STORE_BUSY. Default: 10 s. */
  busyTimeout?: number
  /**
   * When the file lacks what this version added to the schema. `auto`: this process adds it; `wait`: it waits for somebody
   * who does (`migrate()`), as long as `busyTimeout`; `refuse`: STORE_SCHEMA_OLD at once. `auto` when not given.
   */
  migrate?: SqliteSettings['migrate']
}

/** What `task.transaction` gives to write with: a connection to the same file. */
export type SqliteTransaction = DatabaseSync

/** The state store in a SQLite file; `:memory:` keeps it in memory, for tests. */
export function sqlite(
  path: string,
  { writer = 'auto', busyTimeout = 10_000, migrate = 'auto' }: SqliteOptions = {},
): StoreFactory {
  if (!['auto', 'wait', 'refuse'].includes(migrate))
    throw new TriarchError('INVALID_OPTION', 'sqlite: migrate must be "auto", "wait" or "refuse"')
  return (environment) => new SqliteStore(environment, { path, writer, busyTimeout, migrate })
}
