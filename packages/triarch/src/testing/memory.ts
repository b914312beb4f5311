import type { StoreFactory } from '../store/factory.ts'
import { sqlite } from '../store/sqlite/index.ts'

/** A store that lives in memory and ends with its engine. */
export function memory(): StoreFactory {
  return sqlite(':memory:')
}
