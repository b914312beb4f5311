import { TriarchError } from '../../error/error.ts'
import type { Format } from '../../kernel/format.ts'
import type { Database } from './database.ts'
import { contraction, type Migration, migrations, OLDEST_CODE } from './migrations/index.ts'

const VERSION = `
CREATE TABLE IF NOT EXISTS triarch_schema (version INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT`
const STEPS = 'CREATE TABLE IF NOT EXISTS triarch_migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID'
const TABLES = `
SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('triarch_schema', 'triarch_migrations')`

const OLDER = `
SELECT id FROM triarch_nodes
WHERE dead = 0 AND coalesce(CASE WHEN json_valid(runs) THEN runs ->> '$.reads' END, 1) < 2 ORDER BY id LIMIT 10`

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
    const isNew = pending.length === migrations.length
    database.exec(VERSION)
    database.exec(STEPS)
    for (const { name, sql } of pending) {
      database.exec(sql)
      if (isNamed(name)) database.run('INSERT INTO triarch_migrations (name) VALUES (?)', name)
    }
    // Nobody older has ever been there: what keeps them away is not needed.
    const version = isNew ? OLDEST_CODE.format2 : OLDEST_CODE.format1
    if (database.run('UPDATE triarch_schema SET version = max(version, ?)', version) === 0) {
      database.run('INSERT INTO triarch_schema (version, probes) VALUES (?, 0)', version)
    }
    return pending.map(({ name }) => name)
  })
}

/** Takes the store from code that reads only format 1. Throws STORE_FORMAT_IN_USE. */
export function contract(database: Database): string[] {
  return database.transaction(() => {
    if (format(database) === 2) return []
    const older = database.all<{ id: string }>(OLDER).map(({ id }) => id)
    if (older.length > 0) throw inUse(older)
    database.exec(contraction.sql)
    database.run('UPDATE triarch_schema SET version = ?', OLDEST_CODE.format2)
    return [contraction.name]
  })
}

/** How records are written to this store. */
export function format(database: Database): Format {
  const { version } = database.get<{ version: number }>('SELECT version FROM triarch_schema') ?? { version: 0 }
  return version >= OLDEST_CODE.format2 ? 2 : 1
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

function inUse(nodes: readonly string[]): TriarchError {
  const message = `nodes of a version that reads only format 1 work on the store: ${nodes.join(', ')}`
  return new TriarchError('STORE_FORMAT_IN_USE', message, { details: { nodes: [...nodes] } })
}

function tooOld(pending: readonly Migration[]): TriarchError {
  const names = pending.map(({ name }) => name)
  return new TriarchError('STORE_SCHEMA_OLD', `the store lacks the migrations ${names.join(', ')}: run migrate()`, {
    details: { pending: names },
  })
}
