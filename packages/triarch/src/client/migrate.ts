import { systemEnvironment } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
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
  /**
   * 2: history records are written in format 2 from now on, which versions before 0.2 do not read: they cannot open the store any
   * more. New stores are of it. Others stay of format 1, so that the version before may come back; when not given.
   */
  format?: 2
}

/**
 * Brings a store to the schema of this version, as a step of its own before the nodes of this version start; nodes of the
 * version before may run meanwhile and after. Each step is done once, whoever else tries. Processes write a format
 * that was raised from their next start on. Throws `STORE_*`, INVALID_OPTION.
 * @example const { pending } = await migrate(sqlite('shop.db'), { dryRun: true })
 */
export async function migrate(store: StoreFactory, options: MigrateOptions = {}): Promise<MigrationReport> {
  checkOptions('migrate', options, ['dryRun', 'lockTimeout', 'format'])
  const { dryRun = false, lockTimeout = '10m', format } = options
  if (format !== undefined && format !== 2)
    throw new TriarchError('INVALID_OPTION', 'migrate: format is 2, or not given')
  const order = { dryRun, patience: milliseconds(lockTimeout, 'migrate: lockTimeout'), ...(format && { format }) }
  return store(systemEnvironment()).migrate(order)
}
