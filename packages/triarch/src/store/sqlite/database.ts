import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { TriarchError } from '../../error/error.ts'
import { fileError } from './failure.ts'

export type Value = SQLInputValue

/** The longest a transaction that waits for its lock blocks the thread, before it lets others run (ms). */
export const BLOCK = 5

/** Below it, several connections to one file can corrupt it (the WAL-reset race): https://sqlite.org/wal.html */
const OLDEST_SQLITE: readonly number[] = [3, 51, 3]

/**
 * A connection with its prepared statements, kept by their SQL text. What stands in it by itself as a LIMIT, or beside a column that
 * a partial index compares, SQLite plans by its value, and parses all anew whenever it is bound: hence `LIMIT ? + 0`.
 */
export class Database {
  readonly connection: DatabaseSync
  readonly #statements: Map<string, StatementSync> = new Map()

  constructor(connection: DatabaseSync) {
    this.connection = connection
  }

  /** Runs the statement and tells how many rows it changed. */
  run(sql: string, ...values: Value[]): number {
    return this.#statement(sql).run(...values).changes as number
  }

  /** Inserts one row and gives its rowid, or null when a conflict clause kept it out. */
  insert(sql: string, ...values: Value[]): number | null {
    const { changes, lastInsertRowid } = this.#statement(sql).run(...values)
    return changes === 0 ? null : (lastInsertRowid as number)
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  /** Its statement is not kept: there are more of its form than anybody could count. */
  once<Row>(sql: string, ...values: Value[]): Row[] {
    return this.connection.prepare(sql).all(...values) as Row[]
  }

  exec(sql: string): void {
    this.connection.exec(sql)
  }

  /** All or nothing. Takes the write lock at once, so nothing inside can meet a busy store or a stale read. */
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

  /** The same, durable with the next transaction that is: a power cut before that undoes it, a crash of this process does not. */
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

/** Opens and checks. */
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
    // A checkpoint every 16 MB; the log file is cut back to 64 MB after a burst.
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
