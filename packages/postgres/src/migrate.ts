import { TriarchError } from 'triarch'
import type { Client } from './connect.ts'
import { migrations } from './migrations/index.ts'
import { inSchema, quotedSchema } from './schema.ts'

/** Majors we test with. Older ones lack what we use; newer ones may have changed it. */
const [OLDEST, NEWEST] = [14, 18]

/** Two that migrate at once take turns by this advisory lock; it ends with the transaction, whatever happens. */
const LOCK = 'SELECT pg_advisory_xact_lock(7431, hashtext($1))'

/** Refuses servers that cannot be the store: other versions, standbys. */
export async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; standby: boolean; read_only: string; synchronous: string }>(`
    SELECT current_setting('server_version_num') AS version, pg_is_in_recovery() AS standby,
      current_setting('transaction_read_only') AS read_only, current_setting('synchronous_commit') AS synchronous`)
  const [server] = rows
  const major = Math.floor(Number(server?.version) / 10_000)
  refuseVersion(major)
  if (server?.standby || server?.read_only === 'on') {
    throw new TriarchError('STORE_READ_ONLY', 'the server takes no writes: give the address of the primary')
  }
  if (server?.synchronous === 'off') {
    throw new TriarchError('INVALID_OPTION', 'synchronous_commit is off: what is acknowledged would not be durable')
  }
}

export function refuseVersion(major: number): void {
  if (major >= OLDEST && major <= NEWEST) return
  throw new TriarchError(
    'STORE_POSTGRES_UNSUPPORTED',
    `the server is PostgreSQL ${major}, Triarch works with ${OLDEST} to ${NEWEST}`,
  )
}

/** Brings the schema to our version in one transaction; of two processes that open at once, one does it. */
export async function migrate(client: Client, schema: string): Promise<void> {
  if ((await versionOf(client, schema)) === migrations.length) return
  await client.query('BEGIN')
  try {
    await client.query(LOCK, [schema])
    const version = await versionOf(client, schema)
    const made = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
    if (made.rowCount === 0) await client.query(`CREATE SCHEMA ${quotedSchema(schema)}`)
    const table =
      'CREATE TABLE IF NOT EXISTS triarch.schema_version (version integer PRIMARY KEY, at timestamptz NOT NULL)'
    await client.query(inSchema(table, schema))
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue
      await client.query(inSchema(migration, schema))
      await client.query(inSchema('INSERT INTO triarch.schema_version VALUES ($1, now())', schema), [index + 1])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function versionOf(client: Client, schema: string): Promise<number> {
  const known = await client.query('SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = $2', [
    schema,
    'schema_version',
  ])
  if (known.rowCount === 0) return 0
  const sql = 'SELECT coalesce(max(version), 0) AS version FROM triarch.schema_version'
  const { rows } = await client.query<{ version: number }>(inSchema(sql, schema))
  const version = rows[0]?.version ?? 0
  if (version > migrations.length) {
    throw new TriarchError(
      'STORE_SCHEMA_NEWER',
      `the store has schema version ${version}, this Triarch knows up to ${migrations.length}`,
      { details: { found: version, known: migrations.length } },
    )
  }
  return version
}
