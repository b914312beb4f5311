import { existsSync } from 'node:fs'
import { connect } from '@triarch/client'
import { postgres } from '@triarch/postgres'
import { Triarch, type TriarchClient, type TriarchOptions } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import type { Environment, StateStore, StoreFactory } from 'triarch/store'
import { type App, nothing } from './app.ts'
import { exitCodes, Failure } from './exit.ts'
import type { Place, StorePlace } from './place.ts'

/** How long a server is tried that cannot be reached (ms): somebody sits before the terminal. */
const PATIENCE = 10_000

/** A store that is there: this command makes none, and changes no schema, unless that is what it was asked for. */
export function storeAt(place: StorePlace, migrate: 'auto' | 'refuse' = 'refuse'): StoreFactory {
  if (place.type === 'postgres')
    return postgres({ url: place.url, schema: place.schema, connections: 1, reads: 1, patience: PATIENCE, migrate })
  if (migrate === 'refuse' && !existsSync(place.path))
    throw new Failure(exitCodes.absent, 'NO_STORE', `there is no file "${place.path}"`)
  return sqlite(place.path, { migrate, writer: 'inline' })
}

/** The store of a node: made and changed as it needs it. */
export function storeOfNode(place: StorePlace): StoreFactory {
  return place.type === 'postgres' ? postgres({ url: place.url, schema: place.schema }) : sqlite(place.path)
}

/** Tasks, wherever they are. */
export interface Session extends AsyncDisposable {
  readonly triarch: TriarchClient
}

/** An engine on the store that plays no role, and what it was made with. */
export interface StoreSession extends Session {
  readonly triarch: Triarch
  /** The store itself, and this machine's clock. */
  readonly port: StateStore
  readonly environment: Environment
}

/** By a server, or on the store itself: what both can do is one interface. */
export async function sessionAt(place: Place, app?: App): Promise<Session> {
  if (place.type !== 'server') return open(storeAt(place), app)
  // Whether the key may go there was asked when the place was chosen.
  const triarch = connect(place.url, place.key === undefined ? {} : { token: place.key, insecure: true })
  return { triarch, [Symbol.asyncDispose]: async () => undefined }
}

export async function open(
  store: StoreFactory,
  { node: _, duties: __, ...app }: App = nothing,
  options: Partial<TriarchOptions> = {},
): Promise<StoreSession> {
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
