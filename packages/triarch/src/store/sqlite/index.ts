import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { TriarchError } from '../../error/error.ts'
import { checkInteger, checkOptions } from '../../value/options.ts'
import type { StoreFactory } from '../factory.ts'
import { SqliteStore } from './store.ts'

/**
 * Options of `sqlite`.
 * @example const store = sqlite('shop.db', { writer: 'worker', migrate: 'refuse' })
 *
 */
export interface SqliteOptions {
  /**
   * The thread of commits: this one (`inline`), one of their own (`worker`), or chosen by how long a commit takes here
   * (`auto`, the default).
   */
  writer?: 'auto' | 'inline' | 'worker'
  /** How long to wait for other processes' transactions (ms, at most a day) before STORE_BUSY. Default: 10 s. */
  busyTimeout?: number
  /**
   * The behaviour when the file lacks migrations of this version. `auto`: this process runs them; `wait`: it waits up
   * to `busyTimeout` until another process has run them (`migrate()`); `refuse`: STORE_SCHEMA_OLD at once. Default:
   * `auto`.
   */
  migrate?: 'auto' | 'wait' | 'refuse'
}

/**
 * The connection that `task.transaction` passes to its function: a connection to the same file.
 * @example await task.transaction('book', (tx: SqliteTransaction) => void tx.exec('DELETE FROM drafts'))
 *
 */
export type SqliteTransaction = DatabaseSync

const writers: readonly SqliteOptions['writer'][] = ['auto', 'inline', 'worker']
const LONGEST_TIMEOUT = 86_400_000

/**
 * Returns a state store in a SQLite file; `:memory:` keeps it in memory, for tests. A relative path is resolved when
 * this is called. Throws INVALID_OPTION, UNKNOWN_OPTION; if the file cannot be opened, opening the store fails with
 * STORE_FAILED.
 * @example const triarch = new Triarch({ store: sqlite('shop.db', { busyTimeout: 30_000 }) })
 *
 */
export function sqlite(path: string, options: SqliteOptions = {}): StoreFactory {
  // SQLite takes an empty name for a temporary file that it deletes again, and one that begins with `file:` for a URI,
  // whose parameters can switch off locks and the log.
  if (typeof path !== 'string' || path === '' || path.includes('\0') || path.startsWith('file:')) {
    throw new TriarchError('INVALID_OPTION', "sqlite: give the path of a file, such as sqlite('orders.db')")
  }
  checkOptions('sqlite', options, ['writer', 'busyTimeout', 'migrate'])
  const { writer = 'auto', busyTimeout = 10_000, migrate = 'auto' } = options
  if (!writers.includes(writer))
    throw new TriarchError('INVALID_OPTION', 'sqlite: writer must be "auto", "inline" or "worker"')
  checkInteger('sqlite: busyTimeout', busyTimeout, 0, LONGEST_TIMEOUT)
  if (!['auto', 'wait', 'refuse'].includes(migrate))
    throw new TriarchError('INVALID_OPTION', 'sqlite: migrate must be "auto", "wait" or "refuse"')
  // Resolved once, so that a process that changes its directory later keeps the same file.
  const fixed = path === ':memory:' ? path : resolve(path)
  return (environment) => new SqliteStore(environment, { path: fixed, writer, busyTimeout, migrate })
}
