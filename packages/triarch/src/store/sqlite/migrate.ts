import { TriarchError } from '../../error/error.ts'
import type { Database } from './database.ts'
import { migrations } from './migrations/index.ts'

const TABLE = `
CREATE TABLE IF NOT EXISTS triarch_schema (version INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT`
const KNOWN = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'triarch_schema'`

/** Brings the schema to our version in one transaction; of two processes that open at once, one does it. */
export function migrate(database: Database): void {
  if (versionOf(database) === migrations.length) return
  database.transaction(() => {
    const version = versionOf(database)
    if (version === migrations.length) return
    database.exec(TABLE)
    for (const migration of migrations.slice(version)) database.exec(migration)
    database.run('DELETE FROM triarch_schema')
    database.run('INSERT INTO triarch_schema (version, probes) VALUES (?, 0)', migrations.length)
  })
}

function versionOf(database: Database): number {
  if (!database.get(KNOWN)) return 0
  const version = database.get<{ version: number }>('SELECT version FROM triarch_schema')?.version ?? 0
  if (version > migrations.length) {
    throw new TriarchError(
      'STORE_SCHEMA_NEWER',
      `the store has schema version ${version}, this Triarch knows up to ${migrations.length}`,
      { details: { found: version, known: migrations.length } },
    )
  }
  return version
}
