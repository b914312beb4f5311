import pg from 'pg'
import type { Environment, Timer } from 'triarch/store'
import type { Settings } from './options.ts'
import { Query, type Question, type Row, readerOf } from './query.ts'

const { Client } = pg
export type Client = pg.Client

const types: pg.CustomTypesConfig = { getTypeParser: (type: number) => readerOf(type) as never }

/** A statement longer than this is a fault of ours or of the server; it is undone and tried again (ms). */
const STATEMENT_TIMEOUT = 30_000

/** What a connection is for: the engine's calls, what users ask, the node's lease, notifications. */
export type Role = 'calls' | 'reads' | 'beats' | 'hints'

/** Who waits for a lock gives up before we stop waiting for him: nobody is left behind in the server's queue. */
const LOCK_SHARE = 0.8

/** A connection, ready for use. */
export async function connect(settings: Settings, role: Role): Promise<Client> {
  const client = new Client({ ...configOf(settings, role), types })
  client.on('error', () => undefined) // whoever has a call under way hears of it; the next call finds the connection dead
  await client.connect()
  return client
}

/** How long a server may take to hear that a connection ends (ms). One that cannot hear it would be waited for by the hour. */
const GOODBYE = 1_000

/** Ends it, whether the server hears of that or not. */
export function disconnect(environment: Environment, client: Client): Promise<void> {
  return goodbye(environment, client.end(), () => cut(client))
}

/** Waits for a moment only (ms). `late`: told when it is over. */
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

/** The answer, unless it takes longer than the settings allow: then the connection is cut. Throws ETIMEDOUT. */
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

/** Asks, and waits no longer than that. Throws ETIMEDOUT, STORE_FAILED. */
export function ask(
  environment: Environment,
  settings: Pick<Settings, 'answerWithin'>,
  client: pg.ClientBase,
  question: Question,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    // The driver is given a callback: for a promise of its own it would make a function that keeps question and answer until the next full
    // collection (docs/internals/performance.md).
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

/** At once, and without a word. */
export function cut(client: pg.ClientBase): void {
  ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
}

/**
 * Session settings go with a connection's start packet; a transaction pooler would refuse them, so with `notify: false`
 * the session stays as it is.
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
      // Of two that set the same, the server takes the later one.
      options: [options, sessionOptions(role)].filter(Boolean).join(' '),
      statement_timeout: role === 'calls' ? STATEMENT_TIMEOUT : Math.min(STATEMENT_TIMEOUT, within(settings)),
      lock_timeout: within(settings),
    }),
  }
}

/** Parameters of an address that `pg` takes instead of what it is given beside the address. */
const SESSION = ['options', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

/** Without those; `options` of the address, of the settings or of the environment stand by themselves. */
function withoutSession({ connectionString, options, ...rest }: pg.ClientConfig): pg.ClientConfig {
  const [address = '', query] = connectionString?.split(/\?(.*)/s) ?? []
  const parameters = new URLSearchParams(query)
  const given = parameters.get('options') ?? options ?? process.env.PGOPTIONS
  const others = [...parameters].filter(([name]) => !SESSION.includes(name))
  const changed = others.length < parameters.size ? `${address}?${new URLSearchParams(others)}` : connectionString
  return { ...rest, ...(changed !== undefined && { connectionString: changed }), ...(given && { options: given }) }
}

/** Before we stop waiting: what nobody waits for is not worked on. */
function within({ answerWithin }: Settings): number {
  return Math.ceil(answerWithin * LOCK_SHARE)
}

function sessionOptions(role: Role): string {
  const options = {
    // Each statement of a call sees what was committed before it: its locks are taken first.
    default_transaction_isolation: 'read\\ committed',
    // What was acknowledged is on disk. A lost hint or beat costs a moment: it is not worth a flush.
    synchronous_commit: role === 'calls' ? 'on' : 'off',
    idle_in_transaction_session_timeout: 30_000,
    // Our statements are written for these, which a role or a database may have otherwise.
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    // Statistics of tables that are empty now and full in a moment mislead the planner: our statements know their index.
    enable_seqscan: 'off',
    jit: 'off',
    plan_cache_mode: 'force_generic_plan',
  }
  return Object.entries(options)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}
