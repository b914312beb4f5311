import type { Environment } from '../environment/environment.ts'
import type { StateStore } from './port.ts'

/**
 * What users pass as `store`: the engine makes the store with its own environment, whose clock is the store's clock.
 * @example
 * const storeOf = (url: string | undefined): StoreFactory =>
 *   url === undefined ? sqlite('shop.db') : postgres(url)
 */
export type StoreFactory = (environment: Environment) => StateStore
