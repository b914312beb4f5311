import { systemEnvironment } from '../environment/system.ts'
import type { StoreFactory } from '../store/factory.ts'
import type { MigrationReport } from '../store/port.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'

/**
 * How a store is brought to the schema of this version.
 * @example const { done } = await migrate(sqlite('shop.db'), { lockTimeout: '1h' })
 */
export interface MigrateOptions {
  /** Only say what would be done; false. */
  dryRun?: boolean
  /** How long to try while others, such as a backup, keep the tables from us; 10 minutes. */
  lockTimeout?: Duration
}

/**
 * Brings a store to the schema of this version, as a step of its own before the nodes of this version start; nodes of the
 * version before may run meanwhile and after. Each step is done once, whoever else tries. Throws `STORE_*`, INVALID_OPTION.
 * @example const { pending } = await migrate(sqlite('shop.db'), { dryRun: true })
 */
export async function migrate(store: StoreFactory, options: MigrateOptions = {}): Promise<MigrationReport> {
  checkOptions('migrate', options, ['dryRun', 'lockTimeout'])
  const { dryRun = false, lockTimeout = '10m' } = options
  return store(systemEnvironment()).migrate({ dryRun, patience: milliseconds(lockTimeout, 'migrate: lockTimeout') })
}
