import type { Migration } from '../migration.ts'
import { connectTo, type Database } from './database.ts'
import { type Migrating, migrate } from './migrate.ts'

/**
 * Opens, checks and migrates a file. `busyTimeout`: how long (ms) this thread may block on another connection's write
 * lock. `known`: the migrations of this code; tests pass others.
 */
export function openDatabase(
  path: string,
  busyTimeout: number,
  how: Migrating = 'auto',
  known?: readonly Migration[],
): Database {
  const database = connectTo(path, busyTimeout)
  try {
    migrate(database, how, known)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
