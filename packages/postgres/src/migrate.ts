import { TriarchError } from 'triarch'
import {
  delay,
  type Environment,
  type Migration,
  type MigrationOrder,
  type MigrationReport,
  oldestCode,
  pendingMigrations,
  schemaTooOld,
} from 'triarch/store'
import { type Client, connect, disconnect, inTime } from './connect.ts'
import { ruleOf, storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema, quotedSchema } from './schema.ts'

/** The oldest and newest tested major version. Older versions lack required features; newer ones may change them. */
const [OLDEST, NEWEST] = [14, 19]

/** Processes that migrate at the same time take turns by this advisory lock; it ends with the transaction. */
const LOCK = 'SELECT pg_advisory_xact_lock(7431, hashtext($1))'

/**
 * How long a migration waits for a table (ms). Other statements on that table wait behind it, so the time is short.
 * Between two tries they can run; a backup may hold the table for hours.
 */
const LOCK_TIMEOUT = 200
const SHORTEST_REST = 250
const LONGEST_REST = 5_000

/** How often to check whether others have migrated the store (ms). */
const LOOK = 500

/**
 * `schema_version` has one row: the number of the last migration that code must know to use the store. `migrations` has
 * the executed migrations.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS triarch.schema_version (version integer NOT NULL);
CREATE TABLE IF NOT EXISTS triarch.migrations (name text COLLATE "C" PRIMARY KEY, at timestamptz NOT NULL)`
const STANDING = `
SELECT m.name, (SELECT v.version FROM triarch.schema_version v) AS oldest FROM triarch.migrations m`
const DONE = 'INSERT INTO triarch.migrations (name, at) VALUES ($1, now())'
const RAISE = `
WITH raised AS (UPDATE triarch.schema_version v SET version = greatest(v.version, $1::integer) RETURNING 1)
INSERT INTO triarch.schema_version (version) SELECT $1::integer WHERE NOT EXISTS (SELECT 1 FROM raised)`

/** Servers that use the protocol of PostgreSQL but lack what the store needs, such as advisory locks. */
const FOREIGN = /CockroachDB|YugabyteDB|-YB-|Redshift|Greenplum|Materialize|QuestDB|Spanner/i

/** Tests whether an advisory lock is really held: some servers accept the call and lock nothing. */
const LOCKS = `
  (SELECT count(*) > 0 FROM (SELECT pg_try_advisory_xact_lock(7432, pg_backend_pid()) AS got OFFSET 0) taken,
    LATERAL (SELECT 1 FROM pg_locks WHERE taken.got AND locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 7432) held)`

/** Refuses servers that cannot be the store: other versions, other products, other encodings, standbys. */
export async function checkServer(client: Client): Promise<void> {
  const { rows: named } = await client.query<{ software: string }>('SELECT version() AS software')
  refuseForeign(named[0]?.software ?? '')
  const { rows } = await client.query<
    Record<'version' | 'encoding' | 'read_only' | 'synchronous' | 'isolation', string> &
      Record<'standby' | 'locks', boolean>
  >(`
    SELECT current_setting('server_version_num') AS version, pg_is_in_recovery() AS standby,
      current_setting('server_encoding') AS encoding, ${LOCKS} AS locks,
      current_setting('transaction_read_only') AS read_only, current_setting('synchronous_commit') AS synchronous,
      current_setting('transaction_isolation') AS isolation`)
  const [server] = rows
  const major = Math.floor(Number(server?.version) / 10_000)
  refuseVersion(major)
  if (server?.locks !== true) throw unsupported('the server does not hold advisory locks')
  if (server.encoding !== 'UTF8') {
    throw unsupported(
      `the database has the encoding ${server.encoding}, which cannot hold every text: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
    )
  }
  if (server?.standby || server?.read_only === 'on') {
    throw new TriarchError('STORE_READ_ONLY', 'the server takes no writes: give the address of the primary')
  }
  if (server?.synchronous === 'off') {
    throw new TriarchError('INVALID_OPTION', 'synchronous_commit is off: what is acknowledged would not be durable')
  }
  // Connections of this store set it; behind a pooler, where sessions cannot set anything, the role or the database decides.
  if (server?.isolation !== 'read committed') {
    throw new TriarchError(
      'INVALID_OPTION',
      `transactions are ${server?.isolation} by default, Triarch needs read committed: ALTER ROLE … SET default_transaction_isolation = 'read committed'`,
    )
  }
}

export function refuseVersion(major: number): void {
  if (major >= OLDEST && major <= NEWEST) return
  throw unsupported(`the server is PostgreSQL ${major}, Triarch works with ${OLDEST} to ${NEWEST}`)
}

/** Refuses other products by their name, before any function is called that they may lack. */
function refuseForeign(software: string): void {
  if (FOREIGN.test(software)) throw unsupported(`the server is not PostgreSQL but says that it is "${software}"`)
}

function unsupported(message: string): TriarchError {
  return new TriarchError('STORE_POSTGRES_UNSUPPORTED', message)
}

/** Migrates the schema, waits until another process has, or refuses, as the options say. */
export async function prepare(client: Client, settings: Settings, environment: Environment): Promise<void> {
  const until = environment.monotonic() + settings.patience
  if (settings.migrate === 'auto') await expand(client, settings, { environment, until })
  else await others(client, settings, { environment, until })
}

/** Waits until other processes have migrated the schema. */
async function others(client: Client, settings: Settings, { environment, until }: Bounds): Promise<void> {
  for (;;) {
    const pending = await inTime(environment, settings, client, pendingIn(client, settings))
    if (pending.length === 0) return
    if (settings.migrate === 'refuse' || environment.monotonic() >= until) throw schemaTooOld(pending)
    await delay(environment, LOOK)
  }
}

/** Migrates as a step of a deployment, before nodes of this version start. */
export async function migrate(
  settings: Settings,
  environment: Environment,
  { dryRun, patience }: MigrationOrder,
): Promise<MigrationReport> {
  try {
    const client = await connect(settings, 'calls')
    try {
      await inTime(environment, settings, client, checkServer(client))
      const pending = await inTime(environment, settings, client, pendingIn(client, settings))
      const until = environment.monotonic() + patience
      const done = dryRun ? [] : await expand(client, settings, { environment, until })
      return { pending: pending.map(({ name }) => name), done }
    } finally {
      await disconnect(environment, client)
    }
  } catch (error) {
    throw storeError(error)
  }
}

interface Bounds {
  environment: Environment
  /** When to give up, by the monotonic clock. */
  until: number
}

/**
 * Runs each migration in a transaction of its own, so that no lock is held for longer than one migration takes. Returns
 * the names of those that it ran.
 */
async function expand(client: Client, settings: Settings, { environment, until }: Bounds): Promise<string[]> {
  const done: string[] = []
  let rest = SHORTEST_REST
  for (;;) {
    const [next] = await inTime(environment, settings, client, pendingIn(client, settings))
    if (!next) return done
    try {
      if (await step(client, settings, next)) done.push(next.name)
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined)
      if (ruleOf(error).verdict !== 'again') throw error
      if (environment.monotonic() >= until) throw blocked(next, error)
      await delay(environment, rest / 2 + (rest / 2) * environment.random())
      rest = Math.min(rest * 2, LONGEST_REST)
    }
  }
}

async function step(client: Client, settings: Settings, migration: Migration): Promise<boolean> {
  const { schema } = settings
  const { name, sql } = migration
  await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`)
  await client.query(LOCK, [schema])
  // Another process may have done it meanwhile.
  const mine = (await pendingIn(client, settings))[0]?.name === name
  if (mine) {
    const made = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
    if (made.rowCount === 0) await client.query(`CREATE SCHEMA ${quotedSchema(schema)}`)
    await client.query(inSchema(TABLES, schema))
    await client.query(inSchema(sql, schema))
    await client.query(inSchema(DONE, schema), [name])
    await client.query(inSchema(RAISE, schema), [oldestCode([migration])])
  }
  await client.query('COMMIT')
  return mine
}

/** Returns the migrations that this code knows and the store lacks. Throws STORE_SCHEMA_NEWER. */
async function pendingIn(client: Client, { schema, migrations }: Settings): Promise<Migration[]> {
  const { rows: tables } = await client.query(
    `SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename IN ('schema_version', 'migrations')`,
    [schema],
  )
  if (tables.length < 2) return [...migrations]
  const { rows } = await client.query<{ name: string; oldest: number }>(inSchema(STANDING, schema))
  return pendingMigrations(migrations, { oldest: rows[0]?.oldest ?? 0, done: rows.map(({ name }) => name) })
}

function blocked({ name }: Migration, cause: unknown): TriarchError {
  return new TriarchError(
    'STORE_BUSY',
    `migration ${name} could not lock its tables: a backup or a long transaction has them`,
    {
      cause,
      details: { migration: name },
    },
  )
}
