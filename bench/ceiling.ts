import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { timed } from './measure.ts'

const schema = `
CREATE TABLE tasks (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL,
  result TEXT NOT NULL, output TEXT, submitted_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE history (
  task INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, events TEXT NOT NULL, PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID`

/**
 * The raw ceiling: the facts that a task leaves behind, written to SQLite by nothing but prepared statements in group
 * commits, with the engine's pragmas, on its disk. No engine on this store can be faster.
 */
export class RawStore implements Disposable {
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

  /** Writes `tasks` tasks with these records, `inFlight` at a time, the n-th records of all of them in one commit. */
  write(records: readonly string[], tasks: number, inFlight: number): number[] {
    const keys: number[] = []
    for (let done = 0; done < tasks; done += inFlight) {
      const ids = Array.from({ length: Math.min(inFlight, tasks - done) }, () => this.#newId())
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

  /** The same, timed (ms). */
  writing(records: readonly string[], tasks: number, inFlight: number): Promise<number> {
    return timed(() => this.write(records, tasks, inFlight))
  }

  /** Rising, and as long as a UUID: what the engine's ids are to an index. */
  #newId(): string {
    return (this.#tasks++).toString(16).padStart(36, '0')
  }

  /** Reads a history and parses it. */
  read(key: number): unknown[] {
    return this.#read.all(key).flatMap(({ events }) => JSON.parse(String(events)) as unknown[])
  }

  /** Closing checkpoints the log into the file. */
  [Symbol.dispose](): void {
    this.#database.close()
  }
}
