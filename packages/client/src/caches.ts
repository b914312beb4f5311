import { type CacheCollection, invalidationOf } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { encode } from './value.ts'

export function cachesOf(exchange: Exchange): CacheCollection {
  return {
    async invalidate(what, ...key) {
      const stated = invalidationOf(what, key)
      const { reason } = stated
      const body = {
        ...(stated.by === 'tag' ? { tag: stated.tag } : { action: stated.action }),
        ...(stated.by === 'key' && { key: stated.key[0] ?? null }),
        ...(reason !== undefined && { reason }),
      }
      const read = () => undefined
      await exchange.ask({ method: 'POST', path: '/cache/invalidate', body: encode('key', body), read })
    },
  }
}
