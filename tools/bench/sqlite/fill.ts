import { closeSync, fsyncSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { start, tables, threeSteps } from '../subject.ts'

/** Bytes of the payload rows are the same for all; ids are time-ordered UUIDs, as the engine makes them. */
const id = `printf('%08x-%04x-7%03x-8%03x-%012x', t / 65536, t % 65536, n % 4096, n % 4093, n)`

/**
 * A store that has run `tasks` three-step tasks: one by the engine, the others as copies of all its rows under their own
 * keys and ids.
 */
export async function fill(path: string, tasks: number): Promise<void> {
  {
    await using subject = await start(path)
    const task = await subject.engine.submit(threeSteps, { n: 1 })
    await task.result()
  }
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144')
  const original = database.prepare(`SELECT max(key) AS key, submitted_at AS at FROM ${tables.tasks}`).get()
  const [key, at] = [Number(original?.key), Number(original?.at)]
  const copies = `WITH RECURSIVE copies (n, t) AS (
    SELECT 1, ${at - tasks} UNION ALL SELECT n + 1, t + 1 FROM copies WHERE n < ${tasks - 1})`
  const copy = (table: string, replaced: Record<string, string>, where: string) => {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info(?)`)
      .all(table)
      .map(({ name }) => String(name))
    const values = columns.map((column) => replaced[column] ?? `row.${column}`)
    database.exec(`INSERT INTO ${table} (${columns.join(', ')}) ${copies}
      SELECT ${values.join(', ')} FROM copies CROSS JOIN (SELECT * FROM ${table} WHERE ${where}) AS row`)
  }
  copy(tables.tasks, { key: `${key} + n`, id, submitted_at: 't', updated_at: 't' }, `key = ${key}`)
  copy(tables.history, { task: `${key} + n`, at: 't' }, `task = ${key}`)
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}
