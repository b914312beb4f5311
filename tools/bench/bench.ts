import { statSync } from 'node:fs'
import type { Bench, Sizes, Spent } from './measure.ts'
import { RawPostgres } from './postgres/raw.ts'
import { newDatabase, ServerWatch, sizeOf } from './postgres/server.ts'
import { RawSqlite } from './sqlite/raw.ts'

/** What a measure is given on SQLite: files in its own folder. */
export function onSqlite(folder: string, sizes: Sizes): Bench {
  const path = (name: string) => `${folder}/${name}.db`
  return {
    ...sizes,
    store: 'sqlite',
    inFlight: 256,
    place: async (name) => path(name),
    raw: async () => new RawSqlite(path('raw')),
    size: async (place) => statSync(place).size,
    look: async () => null,
  }
}

/** What a measure is given on PostgreSQL: databases of its own on the server of the run. */
export async function onPostgres(url: string, prefix: string, sizes: Sizes): Promise<Bench & AsyncDisposable> {
  const watch = await new ServerWatch(url).open()
  const place = (name: string) => newDatabase(url, `${prefix}_${name}`)
  return {
    ...sizes,
    store: 'postgres',
    inFlight: 600,
    place,
    raw: async () => new RawPostgres(await place('raw')).open(),
    size: sizeOf,
    look: (): Promise<Spent> => watch.look(),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  }
}
