import type { ClientConfig } from 'pg'
import { TriarchError } from 'triarch'
import type { Migration } from 'triarch/store'
import { migrations } from './migrations/index.ts'
import { quotedSchema } from './schema.ts'

/**
 * Options of `postgres`: the address of the database, and how many connections to open.
 * @example const store = postgres({ url: 'postgres://localhost/shop', connections: 4, notify: false })
 *
 */
export interface PostgresOptions {
  /** postgres://user:password@host:port/database. Missing parts come from PGHOST, PGUSER and so on. */
  url?: string
  /** Settings of `pg` in addition to the URL or instead of it: host, port, user, password, database, ssl. */
  connection?: Pick<ClientConfig, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'>
  /**
   * The schema of Triarch's tables; created if missing. Several systems may share a database, each with a schema of its
   * own. Default: 'triarch'.
   */
  schema?: string
  /**
   * Most connections for the engine's own calls, in addition to one for notifications and one or two for the node's
   * lease. Connections that were not needed for half a minute are closed. Default: 8.
   */
  connections?: number
  /**
   * Most connections for users' reads (lists, histories, statistics), in addition to the others. The engine's own calls
   * never wait for them; if all are in use, users' reads wait for each other. Default: 4.
   */
  reads?: number
  /**
   * A standby of the server, which answers `tasks.list`, `tasks.count`, `statistics.get` and `audit.list` in its place: its address, or its
   * address and how far it may lag behind (`maxLag`, ms, default 10 s). Reads still see what this process has just
   * done; if the standby lags or is unreachable, the primary answers.
   */
  readFrom?: string | ReadFrom
  /** Most connections that this process opens for `task.transaction`, in addition to the others. Default: 4. */
  transactions?: number
  /**
   * Whether processes notify each other of changes (LISTEN/NOTIFY). With `false` they poll, more often the more there
   * is to do, and use no session state, as is necessary behind a transaction pooler such as PgBouncer. Default: true.
   */
  notify?: boolean
  /** How long a call tries to reach the server before it fails with STORE_UNAVAILABLE (ms). Default: 30 s. */
  patience?: number
  /** How long to wait for one answer before the connection is considered dead and the call is sent on another (ms). Default: 5 s. */
  answerWithin?: number
  /**
   * The clock that decides deadlines: the server's, or that of this process's environment (for tests on virtual time).
   * Default: the server's.
   */
  clock?: 'server' | 'environment'
  /**
   * The behaviour when the store lacks migrations of this version. `auto`: this process runs them; `wait`: it waits up
   * to `patience` until another process has run them (`migrate()`); `refuse`: STORE_SCHEMA_OLD at once. Default:
   * `auto`.
   */
  migrate?: 'auto' | 'wait' | 'refuse'
}

/**
 * A standby that answers users' reads.
 * @example const readFrom: ReadFrom = { url: 'postgres://replica/shop', maxLag: 2_000 }
 *
 */
export interface ReadFrom {
  /** postgres://user:password@host:port/database. Missing parts come from PGHOST, PGUSER and so on. */
  url?: string
  /** Settings of `pg` in addition to the URL or instead of it; without a URL, missing settings are those of the primary. */
  connection?: PostgresOptions['connection']
  /** How far it may lag behind and still be used (ms). Default: 10 s. */
  maxLag?: number
}

export interface Settings {
  connection: ClientConfig
  /** Null if there is none. */
  readFrom: { connection: ClientConfig; maxLag: number } | null
  schema: string
  connections: number
  reads: number
  transactions: number
  notify: boolean
  patience: number
  answerWithin: number
  clock: 'server' | 'environment'
  migrate: 'auto' | 'wait' | 'refuse'
  /** The migrations of this code, in order. Tests pass others. */
  migrations: readonly Migration[]
}

const keys = [
  'url',
  'connection',
  'schema',
  'connections',
  'reads',
  'readFrom',
  'transactions',
  'notify',
  'patience',
  'answerWithin',
  'clock',
  'migrate',
]

export function settingsOf(given: string | PostgresOptions): Settings {
  const options = typeof given === 'string' ? { url: given } : given
  // Without an address, pg would use that of the environment; this is intended only if an object is given.
  if (typeof options !== 'object' || options === null || given === '') {
    throw new TriarchError(
      'INVALID_OPTION',
      "postgres: give an address, such as 'postgres://host/database', or options",
    )
  }
  const unknown = Object.keys(options).find((key) => !keys.includes(key))
  if (unknown !== undefined) throw new TriarchError('UNKNOWN_OPTION', `postgres: there is no option "${unknown}"`)
  const { url, schema = 'triarch', notify = true, clock = 'server', migrate = 'auto' } = options
  quotedSchema(schema)
  if (clock !== 'server' && clock !== 'environment') {
    throw new TriarchError('INVALID_OPTION', 'postgres: clock must be "server" or "environment"')
  }
  if (!['auto', 'wait', 'refuse'].includes(migrate)) {
    throw new TriarchError('INVALID_OPTION', 'postgres: migrate must be "auto", "wait" or "refuse"')
  }
  const connection = { ...options.connection, ...(url !== undefined && { connectionString: url }) }
  return {
    connection,
    readFrom: options.readFrom === undefined ? null : readFromOf(options.readFrom, connection),
    schema,
    connections: whole('connections', options.connections ?? 8, 1, 1_000),
    reads: whole('reads', options.reads ?? 4, 1, 1_000),
    transactions: whole('transactions', options.transactions ?? 4, 1, 1_000),
    notify,
    patience: whole('patience', options.patience ?? 30_000, 0, 86_400_000),
    answerWithin: whole('answerWithin', options.answerWithin ?? 5_000, 10, 86_400_000),
    clock,
    migrate,
    migrations,
  }
}

function readFromOf(given: string | ReadFrom, primary: ClientConfig): NonNullable<Settings['readFrom']> {
  const options = typeof given === 'string' ? { url: given } : given
  if (typeof options !== 'object' || options === null || given === '')
    throw new TriarchError('INVALID_OPTION', 'postgres: readFrom must be the address of a standby, or { url, maxLag }')
  const unknown = Object.keys(options).find((key) => !['url', 'connection', 'maxLag'].includes(key))
  if (unknown !== undefined) throw new TriarchError('UNKNOWN_OPTION', `postgres: readFrom has no option "${unknown}"`)
  const { url, maxLag = 10_000 } = options
  if (url === undefined && options.connection === undefined)
    throw new TriarchError('INVALID_OPTION', 'postgres: readFrom must say where the standby is')
  // A URL is complete: with one, no setting of the primary is used.
  const base = url === undefined ? primary : {}
  return {
    connection: { ...base, ...options.connection, ...(url !== undefined && { connectionString: url }) },
    maxLag: whole('readFrom.maxLag', maxLag, 0, 86_400_000),
  }
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TriarchError('INVALID_OPTION', `postgres: ${name} must be a whole number from ${least} to ${most}`)
}
