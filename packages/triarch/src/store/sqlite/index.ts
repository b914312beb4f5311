import type { DatabaseSync } from 'node:sqlite'
import type { StoreFactory } from '../factory.ts'
import { type SqliteSettings, SqliteStore } from './store.ts'

export interface SqliteOptions {
  /** Where commits run: in this thread, in one of their own, or by what a commit takes here (the default). */
  writer?: SqliteSettings['writer']
  /** How long to wait for other processes' transactions (ms) before STORE_BUSY. Default: 10 s. */
  busyTimeout?: number
}

/** What `task.transaction` gives to write with: a connection to the same file. */
export type SqliteTransaction = DatabaseSync

/** The state store in a SQLite file; `:memory:` keeps it in memory, for tests. */
export function sqlite(path: string, { writer = 'auto', busyTimeout = 10_000 }: SqliteOptions = {}): StoreFactory {
  return (environment) => new SqliteStore(environment, { path, writer, busyTimeout })
}
