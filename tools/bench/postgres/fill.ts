import pg from 'pg'
import { start, threeSteps } from '../subject.ts'

/** Copies that one statement makes: what it sorts and logs stays in memory. */
const PORTION = 250_000

/** Time-ordered UUIDs, as the engine makes them. */
const id = `lpad(to_hex(t / 65536), 8, '0') || '-' || lpad(to_hex(t % 65536), 4, '0') || '-7' || lpad(to_hex(n % 4096), 3, '0')
  || '-8' || lpad(to_hex(n % 4093), 3, '0') || '-' || lpad(to_hex(n), 12, '0')`

/**
 * A database that has run `tasks` three-step tasks: one by the engine, the others as copies of all its rows under their own
 * keys and ids, one for each millisecond; vacuumed, as it would be by the time that it has so many.
 */
export async function fill(url: string, tasks: number): Promise<void> {
  {
    await using subject = await start(url)
    const task = await subject.engine.submit(threeSteps, { n: 1 })
    await task.result()
  }
  const client = new pg.Client({ connectionString: url, options: '-c synchronous_commit=off' })
  await client.connect()
  try {
    await copy(client, tasks)
  } finally {
    await client.end()
  }
}

async function copy(client: pg.Client, tasks: number): Promise<void> {
  const found = await client.query(`SELECT key, submitted_at AS at FROM triarch.tasks ORDER BY key DESC LIMIT 1`)
  const [key, at] = [Number(found.rows[0]?.key), Number(found.rows[0]?.at)]
  const copies = async (table: string, replaced: Record<string, string>, where: string) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [table],
    )
    const values = rows.map(({ name }) => replaced[name] ?? `row.${name}`)
    return `INSERT INTO ${table} (${rows.map(({ name }) => name).join(', ')}) OVERRIDING SYSTEM VALUE
      SELECT ${values.join(', ')} FROM (SELECT n, ${at - tasks} + n AS t FROM generate_series($1::bigint, $2::bigint) AS n) AS copies
      CROSS JOIN (SELECT * FROM ${table} WHERE ${where}) AS row`
  }
  const statements = [
    await copies('triarch.tasks', { key: `${key} + n`, id, submitted_at: 't', updated_at: 't' }, `key = ${key}`),
    await copies('triarch.history', { task: `${key} + n`, at: 't' }, `task = ${key}`),
  ]
  for (let from = 1; from < tasks; from += PORTION)
    for (const sql of statements) await client.query(sql, [from, Math.min(tasks - 1, from + PORTION - 1)])
  await client.query(
    `SELECT setval(pg_get_serial_sequence('triarch.tasks', 'key'), (SELECT max(key) FROM triarch.tasks))`,
  )
  await client.query(`VACUUM (ANALYZE) triarch.tasks, triarch.history`)
  await client.query('CHECKPOINT')
}
