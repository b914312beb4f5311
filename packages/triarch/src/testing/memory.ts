import type { StoreFactory } from '../store/factory.ts'
import { sqlite } from '../store/sqlite/index.ts'

/**
 * A store that lives in memory and ends with its engine.
 * @example const triarch = new Triarch({ store: memory() })
 */
export function memory(): StoreFactory {
  return sqlite(':memory:')
}
