import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { TriarchError } from '../../error/error.ts'
import { fileError } from './failure.ts'

export type SqlValue = SQLInputValue

/** The longest time that waiting for a lock blocks the thread before other code can run (ms). */
export const BLOCK = 5

/** With older versions, several connections to one file can corrupt it (the WAL-reset race): https://sqlite.org/wal.html */
const OLDEST_SQLITE: readonly number[] = [3, 51, 3]

/**
 * A connection with its prepared statements, which are kept by their SQL text. SQLite plans a bare parameter in a
 * LIMIT, or beside a column that a partial index compares, by its value, and prepares the statement again whenever it
 * is bound: hence `LIMIT ? + 0`.
 */
export class Database {
  readonly connection: DatabaseSync
  readonly #statements: Map<string, StatementSync> = new Map()

  constructor(connection: DatabaseSync) {
    this.connection = connection
  }

  /** Runs the statement and returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#statement(sql).run(...values).changes as number
  }

  /** Inserts one row and returns its rowid, or null if a conflict clause kept it out. */
  insert(sql: string, ...values: SqlValue[]): number | null {
    const { changes, lastInsertRowid } = this.#statement(sql).run(...values)
    return changes === 0 ? null : (lastInsertRowid as number)
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  /** Runs a statement that is not kept, for queries of which there are too many different forms. */
  once<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.connection.prepare(sql).all(...values) as Row[]
  }

  exec(sql: string): void {
    this.connection.exec(sql)
  }

  /**
   * Runs the body in a transaction. Takes the write lock at once, so that no statement inside fails with SQLITE_BUSY or
   * reads stale data.
   */
  transaction<T>(body: () => T): T {
    this.run('BEGIN IMMEDIATE')
    try {
      const result = body()
      this.run('COMMIT')
      return result
    } catch (error) {
      if (this.connection.isTransaction) this.run('ROLLBACK')
      throw error
    }
  }

  /**
   * Runs the body in a transaction without flushing it to disk. It becomes durable with the next flushed one: a power
   * cut before that undoes it, a crash of this process does not.
   */
  unflushed<T>(body: () => T): T {
    this.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transaction(body)
    } finally {
      this.exec('PRAGMA synchronous = FULL')
    }
  }

  close(): void {
    this.connection.close()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** Opens a connection and checks that it is usable. */
export function connectTo(path: string, busyTimeout: number): Database {
  try {
    return connect(path, busyTimeout)
  } catch (error) {
    throw fileError(path, error)
  }
}

function connect(path: string, busyTimeout: number): Database {
  const database = new Database(new DatabaseSync(path, { timeout: busyTimeout }))
  try {
    refuseOld(database.get<{ version: string }>('SELECT sqlite_version() AS version')?.version ?? '0')
    const mode = database.get<{ journal_mode: string }>('PRAGMA journal_mode = WAL')?.journal_mode
    if (mode !== 'wal' && path !== ':memory:') {
      throw new TriarchError('STORE_FAILED', `the file system of ${path} does not allow write-ahead logging`)
    }
    // Checkpoints every 16 MB; truncates the log file to 64 MB after a burst.
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -65536;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA temp_store = MEMORY;
      PRAGMA mmap_size = 0;
      PRAGMA trusted_schema = OFF`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function refuseOld(version: string): void {
  const parts = version.split('.').map(Number)
  const difference = OLDEST_SQLITE.map((oldest, i) => (parts[i] ?? 0) - oldest).find((it) => it !== 0) ?? 0
  if (difference >= 0) return
  const oldest = OLDEST_SQLITE.join('.')
  throw new TriarchError('STORE_SQLITE_TOO_OLD', `this Node has SQLite ${version}, Triarch needs ${oldest} or later`)
}
