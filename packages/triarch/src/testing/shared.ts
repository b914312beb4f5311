import type { Environment } from '../environment/environment.ts'
import { type BoundedCall, boundedCalls } from '../store/calls.ts'
import type { StateStore } from '../store/port.ts'
import type { Database } from '../store/sqlite/database.ts'
import { storeError } from '../store/sqlite/failure.ts'
import { openDatabase } from '../store/sqlite/open.ts'
import { perform } from '../store/sqlite/perform.ts'

/** The store calls of nodes; each is one transaction. */
export type StoreCall = BoundedCall

/** All tables with data; the schema's own row is kept. */
const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'triarch_*' AND name <> 'triarch_schema'`

/** The SQLite store in memory, shared by all nodes of a world: every call runs synchronously, by the store's own clock. */
export class SharedStore {
  readonly database: Database = openDatabase(':memory:', 0)
  readonly #tables = this.database.all<{ name: string }>(TABLES).map(({ name }) => name)
  #clock: Pick<Environment, 'now'> = { now: () => 0 }

  /** Empties the store for another world, which is much faster than creating another one. */
  reset(clock: Pick<Environment, 'now'>): this {
    for (const table of this.#tables) this.database.run(`DELETE FROM ${table}`)
    this.database.run('DELETE FROM sqlite_sequence')
    this.#clock = clock
    return this
  }

  perform(call: StoreCall, args: readonly unknown[]): unknown {
    const now = this.#clock.now()
    if (call === 'now') return now
    try {
      return perform(this.database, call, now, args)
    } catch (error) {
      throw storeError(error)
    }
  }

  close(): void {
    this.database.close()
  }
}

/** Implements the port by one function that carries each call to the store. */
export function storeOver(carry: (call: StoreCall, args: readonly unknown[]) => Promise<unknown>): StateStore {
  const over =
    (call: StoreCall) =>
    (...args: unknown[]) =>
      carry(call, args)
  // The compiler cannot see that the arguments of a name fit the method of that name.
  return Object.fromEntries(boundedCalls.map((call) => [call, over(call)])) as unknown as StateStore
}
