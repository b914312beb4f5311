import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** What the server did between two looks. */
export interface Spent {
  /** CPU time of all its processes (ms). */
  cpu: number
  /** Bytes of its write-ahead log. */
  wal: number
}

/** A look at the server from outside: its log and its processes. */
export class ServerWatch implements AsyncDisposable {
  readonly #client: pg.Client
  #pid = 0

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url })
  }

  async open(): Promise<this> {
    await this.#client.connect()
    const { rows } = await this.#client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    this.#pid = parentOf(rows[0]?.pid ?? 0)
    return this
  }

  async look(): Promise<Spent> {
    const { rows } = await this.#client.query<{ wal: string }>(`SELECT pg_current_wal_insert_lsn() - '0/0' AS wal`)
    return { cpu: cpuOf(this.#pid), wal: Number(rows[0]?.wal) }
  }

  async version(): Promise<string> {
    const { rows } = await this.#client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]?.server_version ?? ''
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end()
  }
}

const HERTZ = 100

function fields(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function parentOf(pid: number): number {
  try {
    return Number(fields(pid)[1])
  } catch {
    return 0 // not on this machine
  }
}

/** CPU time of the process, of its children, and of those that have ended (ms). */
function cpuOf(pid: number): number {
  if (pid === 0) return Number.NaN
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const [, parent, ...rest] = fields(name)
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = rest.slice(9, 13).map(Number)
      if (Number(name) === pid) ticks += user + system + endedUser + endedSystem
      else if (Number(parent) === pid) ticks += user + system
    } catch {
      // it ended while we looked
    }
  }
  return (ticks * 1_000) / HERTZ
}
