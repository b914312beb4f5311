import type { Environment } from '../environment/environment.ts'
import type { StateStore } from './port.ts'

/**
 * The type of the `store` option: the engine makes the store with its own environment, whose clock becomes the store's
 * clock.
 * @example
 * const storeOf = (url: string | undefined): StoreFactory =>
 *   url === undefined ? sqlite('shop.db') : postgres(url)
 *
 */
export type StoreFactory = (environment: Environment) => StateStore
