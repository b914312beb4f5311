import pg from 'pg'
import type { Environment, Timer } from 'triarch/store'
import type { Settings } from './options.ts'
import { Query, type Question, type Row, readerOf } from './query.ts'

const { Client } = pg
export type Client = pg.Client

const types: pg.CustomTypesConfig = { getTypeParser: (type: number) => readerOf(type) as never }

/** A statement that takes longer is cancelled and tried again (ms): the cause is a fault of this code or of the server. */
const STATEMENT_TIMEOUT = 30_000

/** The purpose of a connection: the engine's calls, users' reads, the node's lease, notifications. */
export type Role = 'calls' | 'reads' | 'beats' | 'hints'

/**
 * The lock timeout as a share of the answer timeout: the server stops waiting for a lock before this process stops
 * waiting for the answer, so that no abandoned statement stays in the server's queue.
 */
const LOCK_SHARE = 0.8

/** Opens a connection. */
export async function connect(settings: Settings, role: Role): Promise<Client> {
  const client = new Client({ ...configOf(settings, role), types })
  client.on('error', () => undefined) // a call under way gets the error; the next call finds the connection dead
  await client.connect()
  return client
}

/** How long to wait until the server has received the end of a connection (ms). An unreachable server would be waited for by the hour. */
const GOODBYE = 1_000

/** Ends the connection, even if the server cannot be reached. */
export function disconnect(environment: Environment, client: Client): Promise<void> {
  return goodbye(environment, client.end(), () => cut(client))
}

/** Waits for the end, but only for a moment (ms). `late`: called if that was not enough. */
export async function goodbye(
  environment: Environment,
  end: Promise<void>,
  late?: () => void,
  moment: number = GOODBYE,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = environment.timer(moment, () => {
    late?.()
    over.resolve()
  })
  await Promise.race([end.catch(() => undefined), over.promise])
  timer.cancel()
}

/** Returns the answer; if it takes longer than the settings allow, cuts the connection. Throws ETIMEDOUT. */
export function inTime<T>(
  environment: Environment,
  settings: Pick<Settings, 'answerWithin'>,
  client: pg.ClientBase,
  answer: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = late(environment, settings, client, reject)
    answer.finally(() => timer.cancel()).then(resolve, reject)
  })
}

/** Sends a query and waits for the answer as long as the settings allow. Throws ETIMEDOUT, STORE_FAILED. */
export function ask(
  environment: Environment,
  settings: Pick<Settings, 'answerWithin'>,
  client: pg.ClientBase,
  question: Question,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    // The driver gets a callback: for a promise it would create a function that keeps query and answer until the next
    // full collection (docs/internals/performance.md).
    const query = new Query(question, (error, rows) => {
      timer.cancel()
      if (error) reject(error)
      else resolve(rows as Row[])
    })
    const timer = late(environment, settings, client, reject)
    client.query(query)
  })
}

function late(
  environment: Environment,
  { answerWithin }: Pick<Settings, 'answerWithin'>,
  client: pg.ClientBase,
  reject: (error: Error) => void,
): Timer {
  return environment.timer(answerWithin, () => {
    cut(client)
    reject(Object.assign(new Error('the server gave no answer in time'), { code: 'ETIMEDOUT' }))
  })
}

/** Closes the connection at once, without notifying the server. */
export function cut(client: pg.ClientBase): void {
  ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
}

/**
 * Session settings are sent with a connection's startup packet. A transaction pooler would refuse them, so with
 * `notify: false` the session stays as it is.
 */
export function configOf(settings: Settings, role: Role): pg.ClientConfig {
  const { options, ...connection } = settings.notify ? withoutSession(settings.connection) : settings.connection
  return {
    ...connection,
    application_name: 'triarch',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: settings.answerWithin,
    ...(options !== undefined && { options }),
    ...(settings.notify && {
      // If both set the same option, the server takes the later one.
      options: [options, sessionOptions(role)].filter(Boolean).join(' '),
      statement_timeout: role === 'calls' ? STATEMENT_TIMEOUT : Math.min(STATEMENT_TIMEOUT, within(settings)),
      lock_timeout: within(settings),
    }),
  }
}

/** Parameters of a URL to which `pg` gives precedence over the same settings beside the URL. */
const SESSION = ['options', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

/** Removes these parameters from the URL; `options` of the URL, of the settings or of the environment are kept separately. */
function withoutSession({ connectionString, options, ...rest }: pg.ClientConfig): pg.ClientConfig {
  const [address = '', query] = connectionString?.split(/\?(.*)/s) ?? []
  const parameters = new URLSearchParams(query)
  const given = parameters.get('options') ?? options ?? process.env.PGOPTIONS
  const others = [...parameters].filter(([name]) => !SESSION.includes(name))
  const changed = others.length < parameters.size ? `${address}?${new URLSearchParams(others)}` : connectionString
  return { ...rest, ...(changed !== undefined && { connectionString: changed }), ...(given && { options: given }) }
}

/** A server-side timeout that ends before this process stops waiting, so that the server does no work that is no longer awaited. */
function within({ answerWithin }: Settings): number {
  return Math.ceil(answerWithin * LOCK_SHARE)
}

function sessionOptions(role: Role): string {
  const options = {
    // Each statement of a call sees what was committed before it, because its locks are taken first.
    default_transaction_isolation: 'read\\ committed',
    // What was acknowledged is on disk. A lost notification or heartbeat only delays, which is not worth a flush.
    synchronous_commit: role === 'calls' ? 'on' : 'off',
    idle_in_transaction_session_timeout: 30_000,
    // The statements rely on these, which a role or a database may set otherwise.
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    // Statistics of tables that are empty now and full in a moment mislead the planner; each statement is written for its index.
    enable_seqscan: 'off',
    jit: 'off',
    plan_cache_mode: 'force_generic_plan',
  }
  return Object.entries(options)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}
