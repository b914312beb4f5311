import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type RawStore, rawId } from '../raw.ts'

const schema = `
CREATE TABLE tasks (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL,
  result TEXT NOT NULL, output TEXT, submitted_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE history (
  task INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, events TEXT NOT NULL, PRIMARY KEY (task, seq)
) STRICT`

export class RawSqlite implements RawStore {
  readonly #database: DatabaseSync
  readonly #task: StatementSync
  readonly #record: StatementSync
  readonly #finish: StatementSync
  readonly #read: StatementSync
  #tasks = 0

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
      PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; ${schema}`)
    const prepare = (sql: string) => this.#database.prepare(sql)
    this.#task = prepare(`INSERT INTO tasks VALUES (NULL, ?, 'three-steps', '1', 'running', 'pending', NULL, ?, ?)`)
    this.#record = prepare('INSERT INTO history VALUES (?, ?, ?, ?)')
    this.#finish = prepare(
      `UPDATE tasks SET status = 'stopped', result = 'success', output = ?, updated_at = ? WHERE key = ?`,
    )
    this.#read = prepare('SELECT seq, at, events FROM history WHERE task = ? ORDER BY seq')
  }

  async write(records: readonly string[], tasks: number, inFlight: number): Promise<number[]> {
    const keys: number[] = []
    for (let done = 0; done < tasks; done += inFlight) {
      const ids = Array.from({ length: Math.min(inFlight, tasks - done) }, () => rawId(this.#tasks++))
      const wave: number[] = []
      for (const [index, events] of records.entries()) {
        this.#database.exec('BEGIN IMMEDIATE')
        for (const [at, id] of ids.entries()) {
          const now = Date.now()
          if (index === 0) wave.push(Number(this.#task.run(id, now, now).lastInsertRowid))
          const key = wave[at] ?? 0
          this.#record.run(key, index + 1, now, events)
          if (index === records.length - 1) this.#finish.run('{"n":4}', now, key)
        }
        this.#database.exec('COMMIT')
      }
      keys.push(...wave)
    }
    return keys
  }

  async read(key: number): Promise<unknown[]> {
    return this.#read.all(key).flatMap(({ events }) => JSON.parse(String(events)) as unknown[])
  }

  /** Closing checkpoints the log into the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close()
  }
}
