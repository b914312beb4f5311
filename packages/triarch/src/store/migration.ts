import { TriarchError } from '../error/error.ts'

/** One change of the schema. It is executed once, in a transaction, and recorded by its name. */
export interface Migration {
  /** Its number, of four digits. */
  name: string
  /**
   * Its statements. On PostgreSQL `triarch.` stands for the schema; on SQLite, where users may have tables of their
   * own, all names begin with `triarch_`.
   */
  sql: string
  /**
   * It removes something that older code needs: such code is refused from then on (STORE_SCHEMA_NEWER). Allowed only
   * for what the previous release no longer needs.
   */
  contracts?: true
}

/** The state of a store's schema. */
export interface SchemaStanding {
  /** The number of the last migration that code must know to use the store; 0: none. */
  oldest: number
  /** The names of the executed migrations. */
  done: readonly string[]
}

/**
 * Returns the migrations that this code knows and the store lacks. Migrations that only newer code knows do not matter
 * to this code. Throws STORE_SCHEMA_NEWER.
 */
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

/** Returns the number of the last contracting migration: code without it cannot use the store. 0: there is none. */
export function oldestCode(done: readonly Migration[]): number {
  return Number(done.findLast(({ contracts }) => contracts)?.name ?? 0)
}

/** Returns the STORE_SCHEMA_OLD error: the schema of a store lacks migrations that this code needs. */
export function schemaTooOld(pending: readonly Migration[]): TriarchError {
  const names = pending.map(({ name }) => name)
  return new TriarchError('STORE_SCHEMA_OLD', `the store lacks the migrations ${names.join(', ')}: run migrate()`, {
    details: { pending: names },
  })
}
