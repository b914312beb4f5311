import { delay, type Environment } from '../../environment/environment.ts'
import type { Migration } from '../migration.ts'
import type { MigrationOrder, MigrationReport } from '../port.ts'
import { BLOCK, connectTo, type Database } from './database.ts'
import { storeError } from './failure.ts'
import { migrate, pendingIn } from './migrate.ts'
import { patiently } from './patience.ts'

/** How often to check whether others have migrated the file (ms). */
const LOOK = 100

interface File {
  path: string
  busyTimeout: number
  migrate: 'auto' | 'wait' | 'refuse'
  migrations?: readonly Migration[]
}

/** Migrates a file that is not open to the schema of this code. */
export function migrateFile(
  environment: Environment,
  file: File,
  { dryRun, patience }: MigrationOrder,
): Promise<MigrationReport> {
  return looking(environment, file, (database) =>
    patiently(environment, patience, () => {
      const pending = pendingIn(database, file.migrations).map(({ name }) => name)
      return { pending, done: dryRun ? [] : migrate(database, 'auto', file.migrations) }
    }),
  )
}

/** Waits until others have migrated this file (`wait`), or throws STORE_SCHEMA_OLD. */
export async function migratedByOthers(environment: Environment, file: File): Promise<void> {
  const until = environment.monotonic() + file.busyTimeout
  await looking(environment, file, async (database) => {
    while (pendingIn(database, file.migrations).length > 0) {
      if (file.migrate === 'refuse' || environment.monotonic() >= until) migrate(database, 'refuse', file.migrations)
      await delay(environment, LOOK)
    }
  })
}

async function looking<T>(
  environment: Environment,
  { path, busyTimeout }: File,
  body: (database: Database) => Promise<T>,
): Promise<T> {
  try {
    const open = () => connectTo(path, Math.min(BLOCK, busyTimeout))
    const database = await patiently(environment, busyTimeout, open)
    try {
      return await body(database)
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeError(error)
  }
}
