import { TriarchError } from '../error/error.ts'

/** A step from one schema to the next. It is done once, in a transaction, and recorded by its name. */
export interface Migration {
  /** Its number, of four digits. */
  name: string
  /** Its statements: `triarch.` stands for the schema on PostgreSQL; on SQLite, where users may have tables of their own, all names begin with `triarch_`. */
  sql: string
  /**
   * It takes away what code without it needs: such code is refused from then on (STORE_SCHEMA_NEWER). Only for what no code of the
   * release before needs any more.
   */
  contracts?: true
}

/** What a store says of its schema. */
export interface SchemaStanding {
  /** The number of the last migration that the store needs code to know; 0: none. */
  oldest: number
  /** The names of the migrations that were done. */
  done: readonly string[]
}

/** Migrations that this code knows and the store lacks. Those that only newer code knows do not disturb this code. Throws STORE_SCHEMA_NEWER. */
export function pendingMigrations(known: readonly Migration[], { oldest, done }: SchemaStanding): Migration[] {
  const last = Number(known.at(-1)?.name)
  if (oldest > last)
    throw new TriarchError(
      'STORE_SCHEMA_NEWER',
      `the store needs a Triarch of schema version ${oldest} or later, this one is of ${last}`,
      { details: { found: oldest, known: last } },
    )
  return known.filter(({ name }) => !done.includes(name))
}

/** The number of the last of these migrations that contracts: code without it cannot work on the store. 0: there is none. */
export function oldestCode(done: readonly Migration[]): number {
  return Number(done.findLast(({ contracts }) => contracts)?.name ?? 0)
}

/** STORE_SCHEMA_OLD: the schema of a store lacks migrations that this code needs. */
export function schemaTooOld(pending: readonly Migration[]): TriarchError {
  const names = pending.map(({ name }) => name)
  return new TriarchError('STORE_SCHEMA_OLD', `the store lacks the migrations ${names.join(', ')}: run migrate()`, {
    details: { pending: names },
  })
}
