import { TriarchError } from '../../error/error.ts'
import type { Database } from './database.ts'
import { type Migration, migrations, OLDEST_CODE } from './migrations/index.ts'

const VERSION = `
CREATE TABLE IF NOT EXISTS triarch_schema (version INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT`
const STEPS = 'CREATE TABLE IF NOT EXISTS triarch_migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID'
const TABLES = `
SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('triarch_schema', 'triarch_migrations')`

/** What happens when the store lacks what this version added to the schema. */
export type Migrating = 'auto' | 'refuse'

/** Brings the schema to ours in one transaction; of two processes that open at once, one does it. Answers what it did. */
export function migrate(database: Database, how: Migrating): string[] {
  const lacking = pendingIn(database)
  if (lacking.length === 0) return []
  if (how === 'refuse') throw tooOld(lacking)
  return database.transaction(() => {
    const pending = pendingIn(database)
    if (pending.length === 0) return []
    database.exec(VERSION)
    database.exec(STEPS)
    for (const { name, sql } of pending) {
      database.exec(sql)
      if (isNamed(name)) database.run('INSERT INTO triarch_migrations (name) VALUES (?)', name)
    }
    const version = OLDEST_CODE.format2
    if (database.run('UPDATE triarch_schema SET version = max(version, ?)', version) === 0) {
      database.run('INSERT INTO triarch_schema (version, probes) VALUES (?, 0)', version)
    }
    return pending.map(({ name }) => name)
  })
}

/** Later ones are known by their names. */
function isNamed(name: string): boolean {
  return Number(name) > OLDEST_CODE.format1
}

/** Steps that this code knows and the store has not. What newer code has added does not disturb it. */
export function pendingIn(database: Database): Migration[] {
  const tables = database.all<{ name: string }>(TABLES).map(({ name }) => name)
  const version = tables.includes('triarch_schema')
    ? (database.get<{ version: number }>('SELECT version FROM triarch_schema')?.version ?? 0)
    : 0
  refuseNewer(version)
  const done = tables.includes('triarch_migrations')
    ? database.all<{ name: string }>('SELECT name FROM triarch_migrations').map(({ name }) => name)
    : []
  return migrations.filter(({ name }) => (isNamed(name) ? !done.includes(name) : Number(name) > version))
}

function refuseNewer(version: number): void {
  if (version <= OLDEST_CODE.format2) return
  throw new TriarchError(
    'STORE_SCHEMA_NEWER',
    `the store needs a Triarch of schema version ${version} or later, this one is of ${OLDEST_CODE.format2}`,
    { details: { found: version, known: OLDEST_CODE.format2 } },
  )
}

function tooOld(pending: readonly Migration[]): TriarchError {
  const names = pending.map(({ name }) => name)
  return new TriarchError('STORE_SCHEMA_OLD', `the store lacks the migrations ${names.join(', ')}: run migrate()`, {
    details: { pending: names },
  })
}
