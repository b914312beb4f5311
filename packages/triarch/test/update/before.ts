import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../../src/store/sqlite/migrations/index.ts'

/** How far the schema of released code goes (71e51d6), on either store. */
export const RELEASED = 5

/** An empty file as released code makes it. */
export function fileOfBefore(path: string): void {
  using database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE triarch_schema (version INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT')
  for (const { sql } of migrations.slice(0, RELEASED)) database.exec(sql)
  database.exec(`INSERT INTO triarch_schema VALUES (${RELEASED}, 0)`)
}

/** What released code does with its file open: registers a node, and claims the task of the key. */
export const callsOfBefore = {
  beat: (database: DatabaseSync, node: string) =>
    database
      .prepare(`INSERT INTO triarch_nodes (id, roles, started_at, lease_until, runs) VALUES (?, '[]', 0, 0, '{}')
      ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until WHERE dead = 0`)
      .run(node),
  claim: (database: DatabaseSync, node: string, key: number) =>
    database
      .prepare(`UPDATE triarch_tasks SET locked_by = ?, epoch = epoch + 1, ready = 0, control = 0, orphaned = 0,
      wake_at = NULL WHERE key = ?`)
      .run(node, key),
}
