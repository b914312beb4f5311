import { connectTo, type Database } from './database.ts'
import { type Migrating, migrate } from './migrate.ts'

/** Opens, checks and migrates. `busyTimeout`: how long (ms) this thread may block on another's write lock. */
export function openDatabase(path: string, busyTimeout: number, migrating: Migrating = 'auto'): Database {
  const database = connectTo(path, busyTimeout)
  try {
    migrate(database, migrating)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
