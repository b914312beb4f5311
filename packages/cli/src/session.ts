import { existsSync } from 'node:fs'
import { postgres } from '@triarch/postgres'
import { Triarch, type TriarchOptions } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import type { Environment, StateStore, StoreFactory } from 'triarch/store'
import { type App, nothing } from './app.ts'
import { read } from './argument.ts'
import { exitCodes, Failure, usage } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** Options that every command takes. */
export interface Shared {
  store?: string
  schema?: string
  json?: true
  jsonl?: true
}

/** Where the tasks are. */
export type Place = { type: 'sqlite'; path: string } | { type: 'postgres'; url: string; schema: string }

/** By the option, else the environment: what is secret in an address is never on a command line, where all users of a machine see it. */
export function placeOf({ store, schema }: Shared, { env }: Terminal): Place {
  const file = env.TRIARCH_STORE_FILE
  const given = store ?? env.TRIARCH_STORE ?? (file === undefined ? undefined : read(file).trim())
  if (!given) throw usage('no store: give --store shop.db, or set TRIARCH_STORE to a file or a PostgreSQL URL')
  if (!/^postgres(?:ql)?:\/\//.test(given)) {
    if (/^\w+:\/\//.test(given)) throw usage('the store is neither a file nor a postgres:// URL')
    return { type: 'sqlite', path: given }
  }
  if (store !== undefined && hasPassword(given))
    throw usage('a password does not belong on a command line: set TRIARCH_STORE, TRIARCH_STORE_FILE or PGPASSWORD')
  return { type: 'postgres', url: given, schema: schema ?? env.TRIARCH_SCHEMA ?? 'triarch' }
}

function hasPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url)
    return password !== '' || searchParams.has('password')
  } catch {
    return true
  }
}

/** How long a server is tried that cannot be reached (ms): somebody sits before the terminal. */
const PATIENCE = 10_000

/** A store that is there: this command makes none, and changes no schema, unless that is what it was asked for. */
export function storeAt(place: Place, migrate: 'auto' | 'refuse' = 'refuse'): StoreFactory {
  if (place.type === 'postgres')
    return postgres({ url: place.url, schema: place.schema, connections: 1, reads: 1, patience: PATIENCE, migrate })
  if (migrate === 'refuse' && !existsSync(place.path))
    throw new Failure(exitCodes.absent, 'NO_STORE', `there is no file "${place.path}"`)
  return sqlite(place.path, { migrate, writer: 'inline' })
}

/** An engine on the store that plays no role, and what it was made with. */
export interface Session extends AsyncDisposable {
  readonly triarch: Triarch
  /** The store itself, and this machine's clock. */
  readonly port: StateStore
  readonly environment: Environment
}

export async function open(
  store: StoreFactory,
  app: App = nothing,
  options: Partial<TriarchOptions> = {},
): Promise<Session> {
  const made: { port?: StateStore; environment?: Environment } = {}
  const triarch = new Triarch({
    store: (environment) => {
      made.environment = environment
      made.port = store(environment)
      return made.port
    },
    notices: false,
    ...app,
    ...options,
  })
  const stop = () => triarch.stop({ grace: 0 })
  try {
    await triarch.open()
  } catch (error) {
    await stop()
    throw error
  }
  return { triarch, ...(made as Required<typeof made>), [Symbol.asyncDispose]: stop }
}
