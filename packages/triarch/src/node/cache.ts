import { ActionCache } from '../cache/action-cache.ts'
import { INVALIDATIONS_FRESH_MS } from '../cache/invalidations.ts'
import { type KeyValueCache, keyValueCache, type SharedCache, storeCache } from '../cache/shared-cache.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { Codec } from '../store/codec/codec.ts'
import { Coder } from '../store/codec/coder.ts'
import type { Audited, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'

/**
 * Where a process keeps answers of actions that have a `cache`.
 * @example
 * const cache: AnswerCacheOptions = { entries: 50_000, bytes: 64 * 1024 * 1024 }
 */
export interface AnswerCacheOptions {
  /** The cache shared by all nodes: the state store by default; a cache with the interface of `keyv` (Redis and others); false: none. */
  shared?: KeyValueCache | false
  /** Most answers in the memory of the process: 0 to 10,000,000; 10,000 by default. */
  entries?: number
  /** Most bytes of these answers: 16,777,216 by default. */
  bytes?: number
  /** How long to wait for the shared cache; a slower answer counts as a miss: '250ms'. */
  deadline?: Duration
}

export interface AnswerCache {
  shared: KeyValueCache | false | null
  entries: number
  bytes: number
  deadline: number
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function answerCacheOf(options: AnswerCacheOptions = {}): AnswerCache {
  checkOptions('Triarch: cache', options, ['shared', 'entries', 'bytes', 'deadline'])
  const { shared = null } = options
  if (shared !== null && shared !== false && !(typeof shared.get === 'function' && typeof shared.set === 'function'))
    throw new TriarchError('INVALID_OPTION', 'Triarch: cache.shared must have get and set, as a Keyv has, or be false')
  return {
    shared,
    entries: checkInteger('Triarch: cache.entries', options.entries ?? 10_000, 0, 1e7),
    bytes: checkInteger('Triarch: cache.bytes', options.bytes ?? 16 * 1024 * 1024, 0, 1e12),
    deadline: positiveMilliseconds(options.deadline ?? '250ms', 'Triarch: cache.deadline'),
  }
}

/** The node for which answers are kept. */
interface Holder {
  environment: Environment
  store: StateStore
  node: string
  telemetry: Telemetry
}

/** The cache of one node. */
export function answersOf(
  { environment, store, node, telemetry }: Holder,
  { shared, deadline, ...memory }: AnswerCache,
  codecs: readonly Codec[],
): ActionCache {
  const coder = new Coder(codecs)
  const now = () => Math.round(environment.now())
  const own = (): SharedCache => storeCache({ store, node }, coder, now)
  const other = (cache: KeyValueCache) => keyValueCache(cache, { store, node }, coder, now)
  const outlet = telemetry['cache:failed']
  return new ActionCache({
    ...{ environment, store, node, memory, deadline },
    failed: (error) => outlet.open && outlet.tell({ at: environment.now(), node, error }),
    shared: shared === false ? null : shared === null ? own() : other(shared),
  })
}

/** Invalidates answers. Once this resolves, no node gives an answer with one of these names that was requested before. */
export async function invalidate(
  environment: Environment,
  store: StateStore,
  names: readonly string[],
  acted?: Audited,
): Promise<void> {
  await store.invalidate(names, acted)
  await delay(environment, INVALIDATIONS_FRESH_MS * SURELY)
}

/** Clocks of machines differ by less than this factor. */
const SURELY = 1.1
