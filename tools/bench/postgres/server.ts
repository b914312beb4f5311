import pg from 'pg'
import { startServer } from '../../../packages/postgres/test/server.ts'
import type { Spent } from '../measure.ts'
import { cpuOf, parentOf } from '../processes.ts'

/** A look at the server from outside: its log and its processes. */
export class ServerWatch implements AsyncDisposable {
  readonly #client: pg.Client
  #pid: number | null = null

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url })
  }

  async open(): Promise<this> {
    await this.#client.connect()
    const { rows } = await this.#client.query<{ pid: number; address: string | null }>(
      'SELECT pg_backend_pid() AS pid, host(inet_server_addr()) AS address',
    )
    const [own] = rows
    const near = own?.address === null || own?.address === '127.0.0.1' || own?.address === '::1'
    this.#pid = near && own ? parentOf(own.pid) : null
    return this
  }

  /** CPU is NaN when the server is on another machine. */
  async look(): Promise<Spent> {
    const { rows } = await this.#client.query<{ wal: string }>(`SELECT pg_current_wal_insert_lsn() - '0/0' AS wal`)
    const cpu = this.#pid === null ? null : cpuOf(this.#pid)
    return { cpu: cpu ?? Number.NaN, wal: Number(rows[0]?.wal) }
  }

  async version(): Promise<string> {
    const { rows } = await this.#client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]?.server_version ?? ''
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end()
  }
}

/** An empty database on the server; its URL. */
export async function newDatabase(server: string, name: string): Promise<string> {
  await withClient(server, async (client) => {
    const quoted = client.escapeIdentifier(name)
    await client.query(`DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${quoted}`)
  })
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Bytes of the database: tables, indexes and what lies beside them. */
export function sizeOf(database: string): Promise<number> {
  return withClient(database, async (client) => {
    const { rows } = await client.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size')
    return Number(rows[0]?.size)
  })
}

/** The server of a run. */
export interface Serving {
  url: string
  version: string
  /** Where its data is; undefined: on a server that was there already. */
  folder: string | undefined
  stop(): Promise<void>
}

/** Of 41 processes, each with as many as it may open while it is busy. */
const CONNECTIONS = 800

/** So much of its log a server keeps to use it again: as much as it has between two checkpoints (MB). */
const LOG = 1_024

/**
 * A fresh server with full durability, below `parent`, and with its log in place; or the one that TRIARCH_POSTGRES_URL names. `quick`: its log
 * is made as it is needed.
 */
export async function serve(parent: string | undefined, quick: boolean): Promise<Serving> {
  const given = process.env.TRIARCH_POSTGRES_URL
  // A fleet has more connections than a server allows by itself.
  const flags = [`max_connections=${CONNECTIONS}`, `min_wal_size=${LOG}MB`, `max_wal_size=${LOG}MB`]
  const server = given ? null : await startServer({ durable: true, flags, ...(parent !== undefined && { parent }) })
  const url = given ?? server?.url ?? ''
  if (server && !quick) await writeLog(url)
  await using watch = await new ServerWatch(url).open()
  return { url, version: await watch.version(), folder: server?.folder, stop: async () => server?.stop() }
}

/**
 * Whoever has to make a file of the log (16 MB) keeps all from committing for 50 ms. A server that has been at work for a while has as many as it
 * needs, and uses them again.
 */
function writeLog(url: string): Promise<void> {
  return withClient(url, async (client) => {
    const message = "pg_logical_emit_message(false, 'bench', repeat(' ', 1048576))"
    await client.query(`SELECT count(${message}) FROM generate_series(1, $1::int)`, [LOG])
    await client.query('CHECKPOINT')
  })
}

async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await body(client)
  } finally {
    await client.end()
  }
}
