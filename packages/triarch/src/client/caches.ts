import { invalidName } from '../definition/cache.ts'
import type { Action } from '../definition/definition.ts'
import { invalidate } from '../node/cache.ts'
import { type Invalidation, invalidationOf } from '../value/invalidation.ts'
import { entryOf } from './act.ts'
import type { Connection } from './connection.ts'

/**
 * The cached answers of actions.
 * @example const caches: CacheCollection = triarch.caches
 */
export interface CacheCollection {
  /**
   * Invalidates cached answers on all nodes: that of an action for a key (as `cache.key` makes it; otherwise the input), all of an action
   * (also by its name), or all with a tag. Once this resolves, no answer requested before is given. Throws UNKNOWN_ACTION,
   * UNKNOWN_OPTION, INVALID_OPTION, STORE_*.
   * @example
   * await triarch.caches.invalidate(charge, { id: 'o-1', amount: 10 })
   * await triarch.caches.invalidate({ action: 'payments.charge', reason: 'a correction' })
   * await triarch.caches.invalidate({ tag: 'customer:7' })
   */
  invalidate(what: Pick<Action, 'key'> | string | Invalidation, ...key: [key?: unknown]): Promise<void>
}

/** `told`: called once answers are invalidated. */
export function cachesOf(
  { environment, store, opened }: Connection,
  told: (by: 'key' | 'action' | 'tag', name: string) => void,
): CacheCollection {
  return {
    async invalidate(what, ...key) {
      const stated = invalidationOf(what, key)
      const names = [invalidName(stated)]
      await opened()
      const { by, reason } = stated
      const name = stated.by === 'tag' ? stated.tag : stated.action
      const act = { action: 'cache.invalidate', subject: `cache:${by === 'tag' ? `tag ${name}` : name}`, reason }
      await invalidate(environment, store, names, { audit: entryOf(environment, act) })
      told(by, name)
    },
  }
}
