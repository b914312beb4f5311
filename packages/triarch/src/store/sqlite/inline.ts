import type { Environment } from '../../environment/environment.ts'
import type { Migration } from '../migration.ts'
import type { Database } from './database.ts'
import { unopened } from './failure.ts'
import { openDatabase } from './open.ts'
import { patiently } from './patience.ts'
import { perform } from './perform.ts'
import type { Arguments, OperationName, Operations, Runner } from './runner.ts'

/** The longest time that this thread blocks on a lock before other code can run (ms). */
const BLOCK = 5

const PROBES = 9
const PROBE = 'UPDATE triarch_schema SET probes = probes + 1'

/** Runs the operations in this thread, which is fastest where commits are fast. */
export class InlineRunner implements Runner {
  readonly #environment: Environment
  readonly #path: string
  readonly #busyTimeout: number
  readonly #migrations: readonly Migration[] | undefined
  #database: Database | null = null

  constructor(environment: Environment, path: string, busyTimeout: number, migrations?: readonly Migration[]) {
    this.#environment = environment
    this.#path = path
    this.#busyTimeout = busyTimeout
    this.#migrations = migrations
  }

  async open(): Promise<void> {
    this.#database = await patiently(this.#environment, this.#busyTimeout, () =>
      openDatabase(this.#path, Math.min(BLOCK, this.#busyTimeout), 'auto', this.#migrations),
    )
  }

  async run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>> {
    const result = this.#patiently((database) => perform(database, name, this.#environment.now(), args))
    return result as Promise<ReturnType<Operations[Name]>>
  }

  /** The connection. Throws STORE_CLOSED. */
  get database(): Database {
    if (!this.#database) throw unopened()
    return this.#database
  }

  async close(): Promise<void> {
    this.#database?.close()
    this.#database = null
  }

  /** Measures a small durable commit (ms): the best of several, because a busy machine only adds to the time. */
  async commitTime(): Promise<number> {
    const times: number[] = []
    for (let i = 0; i < PROBES; i++) {
      const start = this.#environment.monotonic()
      await this.#patiently((database) => database.run(PROBE))
      times.push(this.#environment.monotonic() - start)
    }
    return Math.min(...times)
  }

  #patiently<T>(body: (database: Database) => T): Promise<T> {
    return patiently(this.#environment, this.#busyTimeout, () => body(this.database))
  }
}
