import type { ClientConfig } from 'pg'
import { TriarchError } from 'triarch'
import type { Migration } from 'triarch/store'
import { migrations } from './migrations/index.ts'
import { quotedSchema } from './schema.ts'

/**
 * Where the database is, and how many connections it is asked for.
 * @example const store = postgres({ url: 'postgres://localhost/shop', connections: 4, notify: false })
 */
export interface PostgresOptions {
  /** postgres://user:password@host:port/database. What it leaves out comes from PGHOST, PGUSER and so on. */
  url?: string
  /** Settings of `pg` besides or instead of the URL: host, port, user, password, database, ssl. */
  connection?: Pick<ClientConfig, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'>
  /** The schema with Triarch's tables; made when missing: 'triarch'. Several systems may share a database by it. */
  schema?: string
  /**
   * Most connections the engine's own calls open, besides one for notifications and one or two for the node's lease: 8. Those that nobody has
   * needed for half a minute are closed.
   */
  connections?: number
  /**
   * Most connections for what users ask (lists, histories, statistics): 4, on top of the others. Nothing the engine does
   * waits for them; with all taken, users wait for each other.
   */
  reads?: number
  /**
   * A standby of that server, which answers `list`, `count`, `statistics` and `audit` in its place: its address, or its address and how
   * far behind it may be (`maxLag`, ms: 10 s). What this process has just done is seen all the same; where the standby lags, or
   * is gone, the primary answers.
   */
  readFrom?: string | ReadFrom
  /** Most connections this process opens for `task.transaction`: 4. They come on top of the others. */
  transactions?: number
  /**
   * Whether other processes are told of what was written (LISTEN/NOTIFY). With `false` they look for it, more often the
   * more there is; then no state of a session is used either, as behind a transaction pooler such as PgBouncer. Default: true.
   */
  notify?: boolean
  /** How long a call tries to reach the server before it gives up with STORE_UNAVAILABLE (ms): 30 s. */
  patience?: number
  /** How long to wait for one answer before the connection is taken for dead and the call sent on another (ms): 5 s. */
  answerWithin?: number
  /** Whose clock decides deadlines: the server's, or this process's environment's (tests on virtual time). Default: the server's. */
  clock?: 'server' | 'environment'
  /**
   * When the store lacks what this version added to the schema. `auto`: this process adds it; `wait`: it waits for somebody
   * who does (`migrate()`), as long as its patience; `refuse`: STORE_SCHEMA_OLD at once. `auto` when not given.
   */
  migrate?: 'auto' | 'wait' | 'refuse'
}

/**
 * A standby that answers what users ask.
 * @example const readFrom: ReadFrom = { url: 'postgres://replica/shop', maxLag: 2_000 }
 */
export interface ReadFrom {
  /** postgres://user:password@host:port/database. What it leaves out comes from PGHOST, PGUSER and so on. */
  url?: string
  /** Settings of `pg` besides or instead of the URL; without a URL, those of the primary count where it says nothing. */
  connection?: PostgresOptions['connection']
  /** How far behind it may be and still be asked (ms): 10 s. */
  maxLag?: number
}

export interface Settings {
  connection: ClientConfig
  /** Null: there is none. */
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
  /** The migrations that this code knows, in order. Tests give others. */
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
  // Without an address, pg would take the one of the environment: only who gives an object may have meant that.
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
  // An address is whole: with one of its own, nothing of the primary's is wanted.
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
