import { type Migration, oldestCode, pendingMigrations, schemaTooOld } from '../migration.ts'
import type { Database } from './database.ts'
import { migrations } from './migrations/index.ts'

/** `version`: the number of the last migration that code must know to use the store. `probes`: see inline.ts. */
const VERSION = `
CREATE TABLE IF NOT EXISTS triarch_schema (version INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT`
const MIGRATIONS = 'CREATE TABLE IF NOT EXISTS triarch_migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID'
const IS_NEW = `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'triarch_schema')`

/** What to do when the store lacks migrations that this code knows. */
export type Migrating = 'auto' | 'refuse'

/**
 * Runs the migrations that the store lacks, in one transaction, so that of two processes that open it at the same time
 * only one does. Returns the names of those that it ran. `known`: the migrations of this code, in order.
 */
export function migrate(database: Database, how: Migrating, known: readonly Migration[] = migrations): string[] {
  const lacking = pendingIn(database, known)
  if (lacking.length === 0) return []
  if (how === 'refuse') throw schemaTooOld(lacking)
  return database.transaction(() => {
    const pending = pendingIn(database, known)
    if (pending.length === 0) return []
    database.exec(`${VERSION};${MIGRATIONS}`)
    for (const { name, sql } of pending) {
      database.exec(sql)
      database.run('INSERT INTO triarch_migrations (name) VALUES (?)', name)
    }
    const oldest = oldestCode(known)
    if (database.run('UPDATE triarch_schema SET version = max(version, ?)', oldest) === 0) {
      database.run('INSERT INTO triarch_schema (version, probes) VALUES (?, 0)', oldest)
    }
    return pending.map(({ name }) => name)
  })
}

/** Returns the migrations that this code knows and the store lacks. Throws STORE_SCHEMA_NEWER. */
export function pendingIn(database: Database, known: readonly Migration[] = migrations): Migration[] {
  if (database.get(IS_NEW)) return [...known]
  const oldest = database.get<{ version: number }>('SELECT version FROM triarch_schema')?.version ?? 0
  const done = database.all<{ name: string }>('SELECT name FROM triarch_migrations').map(({ name }) => name)
  return pendingMigrations(known, { oldest, done })
}
