import { type Coder, isCoded } from '../store/codec/coder.ts'
import { objectOf } from '../store/legible.ts'
import type { CacheRow, StateStore } from '../store/port.ts'

/** The interface of an external cache, as in `keyv`: Redis, Memcached and others. `ttl` in ms. */
export interface KeyValueCache {
  /** The value; undefined: none. */
  get(key: string): unknown
  /** Stores a string for this long (ms). */
  set(key: string, value: string, ttl: number): unknown
}

/** An answer as stored in a shared cache. */
export interface SharedAnswer {
  /** JSON text. */
  value: string
  seen: number
  names: readonly string[]
  /** Time since it was stored (ms). */
  age: number
}

/** A cache shared by several processes. */
export interface SharedCache {
  get(key: string): Promise<{ answer: SharedAnswer | null; flying: boolean }>
  /**
   * Begins a fill of this key for `within` ms, unless another node has one (`begun`: false). Returns the answer that is kept then, because
   * another node may have ended its fill since the last `get`.
   */
  begin(key: string, within: number): Promise<{ begun: boolean; answer: SharedAnswer | null }>
  /** Stores the answer for `keep` ms, and ends the fill of this key. */
  set(key: string, answer: Omit<SharedAnswer, 'age'>, keep: number): Promise<void>
}

interface UnwrittenAnswer {
  value: string
  names: string[]
}

export function storeCache(
  { store, node }: { store: Pick<StateStore, 'readCache' | 'writeCache' | 'beginFill' | 'endFill'>; node: string },
  coder: Coder,
  now: () => number,
): SharedCache {
  const shared = (answer: CacheRow['answer']): SharedAnswer | null =>
    answer && { ...writtenOf(decoded(coder, answer.value)), seen: answer.seen, age: answer.age }
  return {
    async get(key) {
      const { answer, flying } = await store.readCache(key)
      return { answer: shared(answer), flying }
    },
    async begin(key, within) {
      const { begun, answer } = await store.beginFill({ key, node, within })
      return { begun, answer: shared(answer) }
    },
    async set(key, { value, names, seen }, keep) {
      try {
        const text = coder.encode(JSON.stringify({ value, names }))
        await store.writeCache({ key, node, value: text, seen, at: now(), keep: Math.ceil(keep) })
      } catch (error) {
        await store.endFill({ key, node })
        throw error
      }
    },
  }
}

/** A shared cache that keeps answers in the external cache, and fills in the state store. */
export function keyValueCache(
  cache: KeyValueCache,
  { store, node }: { store: Pick<StateStore, 'readCache' | 'beginFill' | 'endFill'>; node: string },
  coder: Coder,
  now: () => number,
): SharedCache {
  const read = async (key: string): Promise<SharedAnswer | null> => {
    const found = await cache.get(PREFIX + key)
    const stored = typeof found === 'string' ? objectOf<{ data: string; seen: number; at: number }>(found) : null
    if (stored === null) return null
    const { data, seen, at } = stored
    return { ...writtenOf(decoded(coder, data)), seen, age: Math.max(0, now() - at) }
  }
  return {
    async get(key) {
      const [answer, { flying }] = await Promise.all([read(key), store.readCache(key)])
      return { answer, flying }
    },
    async begin(key, within) {
      const { begun } = await store.beginFill({ key, node, within })
      return { begun, answer: begun ? await read(key) : null }
    },
    async set(key, { value, names, seen }, keep) {
      const data = coder.encode(JSON.stringify({ value, names }))
      try {
        await cache.set(PREFIX + key, JSON.stringify({ data, seen, at: now() }), Math.ceil(keep))
      } finally {
        await store.endFill({ key, node })
      }
    },
  }
}

const PREFIX = 'triarch:'

function decoded(coder: Coder, text: string): string {
  return isCoded(text) ? coder.decode(text) : text
}

/** Throws if the text is not an answer; the lookup is then a miss. */
function writtenOf(text: string): UnwrittenAnswer {
  const { value, names } = JSON.parse(text) as UnwrittenAnswer
  if (typeof value !== 'string' || !Array.isArray(names)) throw new Error('not an answer')
  return { value, names }
}
