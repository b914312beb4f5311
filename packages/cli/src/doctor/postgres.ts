import pg from 'pg'
import { type Finding, fail, ok, warn } from './finding.ts'
import { upkeep } from './upkeep.ts'

/** Connections that should be left, of those that the server takes. */
const LEAST_LEFT = 0.1

const SETTINGS = `
SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS pages, current_setting('synchronous_commit') AS synchronous,
  current_setting('default_transaction_isolation') AS isolation, current_setting('max_connections')::int AS most,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS taken,
  pg_is_in_recovery() AS standby,
  has_schema_privilege(current_user, $1, 'USAGE') AS usage`
const OLDEST = `
SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float AS seconds
FROM pg_stat_activity WHERE state <> 'idle' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`

/** A transaction that is open for so long keeps dead rows from being removed (s). */
const LONG = 300

/** The server's settings, as far as the engine relies on them. `long`: how long a transaction may be open (s). */
export async function postgresFindings(url: string, schema: string, long: number = LONG): Promise<Finding[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const { rows } = await client.query<Settings>(SETTINGS, [schema])
    const [found] = rows as [Settings]
    const { seconds } = (await client.query<{ seconds: number }>(OLDEST)).rows[0] ?? { seconds: 0 }
    return [
      ok('PostgreSQL', `version ${found.version}`),
      found.standby
        ? fail('server', 'it is a standby', 'give the address of the primary')
        : ok('server', 'it takes writes'),
      ...(['fsync', 'pages', 'synchronous'] as const).map((name) =>
        found[name] === 'off'
          ? fail(settings[name], 'off', 'turn it on: what was acknowledged may be lost')
          : ok(settings[name], found[name]),
      ),
      found.isolation === 'read committed'
        ? ok('isolation', found.isolation)
        : warn('isolation', found.isolation, 'behind a pooler Triarch needs read committed as the default'),
      found.taken <= found.most * (1 - LEAST_LEFT)
        ? ok('connections', `${found.taken} of ${found.most}`)
        : warn(
            'connections',
            `${found.taken} of ${found.most}`,
            'raise max_connections, or lower `connections` of the nodes',
          ),
      found.usage
        ? ok('rights', `the role may use schema ${schema}`)
        : fail('rights', `the role may not use schema ${schema}`, `GRANT USAGE ON SCHEMA ${schema}`),
      seconds <= long
        ? ok('transactions', `the oldest is open for ${Math.round(seconds)} s`)
        : warn('transactions', `one is open for ${Math.round(seconds)} s`, 'end it: dead rows cannot be removed'),
      ...(await upkeep(client, schema, found.standby)),
    ]
  } finally {
    await client.end()
  }
}

const settings = { fsync: 'fsync', pages: 'full_page_writes', synchronous: 'synchronous_commit' } as const

interface Settings {
  version: string
  fsync: string
  pages: string
  synchronous: string
  isolation: string
  most: number
  taken: number
  standby: boolean
  usage: boolean
}
