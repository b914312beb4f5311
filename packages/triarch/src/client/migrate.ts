import { systemEnvironment } from '../environment/system.ts'
import type { StoreFactory } from '../store/factory.ts'
import type { MigrationReport } from '../store/port.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'

/**
 * How to bring a store to the schema of this version.
 * @example const { done } = await migrate(sqlite('shop.db'), { lockTimeout: '1h' })
 */
export interface MigrateOptions {
  /** Only report what would be done; false by default. */
  dryRun?: boolean
  /** How long to retry while others, such as a backup, lock the tables; 10 minutes by default. */
  lockTimeout?: Duration
}

/**
 * Brings a store to the schema of this version, before nodes of this version start; nodes of the previous version may run meanwhile and
 * afterwards. Each step is done once, even if several processes try. Throws `STORE_*`, INVALID_OPTION.
 * @example const { pending } = await migrate(sqlite('shop.db'), { dryRun: true })
 */
export async function migrate(store: StoreFactory, options: MigrateOptions = {}): Promise<MigrationReport> {
  checkOptions('migrate', options, ['dryRun', 'lockTimeout'])
  const { dryRun = false, lockTimeout = '10m' } = options
  return store(systemEnvironment()).migrate({ dryRun, patience: milliseconds(lockTimeout, 'migrate: lockTimeout') })
}
