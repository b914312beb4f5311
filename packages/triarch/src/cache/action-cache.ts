import type { CacheKey, CachePolicy } from '../definition/cache.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { owned } from '../environment/owner.ts'
import { toRecord } from '../error/record.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { Outcome } from '../kernel/message.ts'
import type { CacheMark } from '../kernel/step/step.ts'
import type { StateStore, StepRequest } from '../store/port.ts'
import { warned } from '../telemetry/guarded.ts'
import { InvalidationReader } from './invalidations.ts'
import { type MemoryAnswer, MemoryCache } from './memory-cache.ts'
import type { SharedAnswer, SharedCache } from './shared-cache.ts'

export interface ActionCacheOptions {
  environment: Environment
  store: Pick<StateStore, 'invalidated' | 'endFill'>
  node: string
  /** Null: there is no shared cache. */
  shared: SharedCache | null
  memory: { entries: number; bytes: number }
  /** How long to wait for the shared cache; a slower answer counts as a miss (ms). */
  deadline: number
  /** Called when a cache fails; the lookup then counts as a miss. */
  failed: (error: unknown) => void
}

/** The result of a lookup: an answer; or the right to ask the service (`flight`); or neither, when the wait was given up. */
export interface CacheLookup {
  outcome: Outcome | null
  /** To be ended with the service's answer. */
  flight: FillHandle | null
}

/** One attempt's request to the service that fills the cache. */
export interface FillHandle {
  /** Claims the fill for `within` ms; resolves to whether no other node has it. */
  claim(within: number): Promise<boolean>
  /** Ends the fill. Null: no outcome is stored. */
  end(outcome: Outcome | null): void
}

/** A fill that a lookup may begin. */
interface Departure extends FillHandle {
  /** Claims the fill; `answer`: what the shared cache has then. */
  begin(within: number): Promise<{ begun: boolean; answer: SharedAnswer | null }>
}

/** Poll interval while another node's fill is awaited (ms). */
const LOOK = 100
const NOTHING: CacheLookup = { outcome: null, flight: null }
const ALONE = { begun: true, answer: null } as const

/** An answer as stored in a cache. */
interface StoredAnswer {
  output?: Json
  error?: ErrorRecord
  /** How long it is fresh, and after that stale (ms). */
  fresh: number
  stale: number
}

/** The cached answers of a node: its own memory first, then the cache shared by all nodes. Any failure of a cache counts as a miss. */
export class ActionCache {
  readonly #options: ActionCacheOptions
  readonly #memory: MemoryCache
  readonly #validity: InvalidationReader
  /** Fills of this process by key, resolved when they end. */
  readonly #flights = new Map<string, Promise<void>>()

  constructor(options: ActionCacheOptions) {
    this.#options = options
    this.#memory = new MemoryCache(options.memory)
    this.#validity = new InvalidationReader(options.environment, options.store)
  }

  /** `waits` is called when the lookup waits for another attempt's answer. */
  async find(policy: CachePolicy, { input }: StepRequest, completeBy: number, waits: () => void): Promise<CacheLookup> {
    let key: CacheKey
    try {
      key = owned(warned, () => policy.keyOf(input))
    } catch (error) {
      // The attempt fails with this error, as if its code had thrown it.
      return { outcome: { kind: 'failed', error: toRecord(error), retryable: true }, flight: null }
    }
    const { environment } = this.#options
    // Waits at most half of the time left, so that a fill which never ends does not cost the attempt all of it.
    const until = environment.monotonic() + (completeBy - environment.now()) / 2
    try {
      for (;;) {
        await this.#bounded(this.#validity.read())
        const found = this.#recalled(key, policy)
        if (found) return found
        const flight = this.#flights.get(key.digest)
        if (!flight) return await this.#own(policy, key, { until, completeBy }, waits)
        waits()
        if (!(await this.#before(until, flight))) return NOTHING
      }
    } catch (error) {
      this.#options.failed(error)
      return NOTHING
    }
  }

  #recalled(key: CacheKey, policy: CachePolicy): CacheLookup | null {
    const answer = this.#memory.get(key.digest)
    if (!answer) return null
    const now = this.#options.environment.monotonic()
    if (now >= answer.until || !this.#validity.holds(answer)) {
      this.#memory.delete(key.digest)
      return null
    }
    if (now < answer.fresh) return { outcome: this.#outcomeOf(answer, 'memory'), flight: null }
    const flight = this.#flights.has(key.digest) ? null : this.#depart(policy, key)
    return { outcome: this.#outcomeOf(answer, 'memory', true), flight }
  }

  /**
   * Looks in the shared cache; no other attempt of this process is filling the key. Waits for other nodes until `until` (monotonic
   * clock).
   */
  async #own(
    policy: CachePolicy,
    key: CacheKey,
    { until, completeBy }: { until: number; completeBy: number },
    waits: () => void,
  ): Promise<CacheLookup> {
    const departure = this.#depart(policy, key)
    const { environment, shared } = this.#options
    if (!policy.shared || shared === null) return { outcome: null, flight: departure }
    const { digest } = key
    try {
      for (;;) {
        const { answer, flying } = await this.#bounded(shared.get(digest))
        const found = this.#given(policy, key, answer, departure)
        if (found) return found
        const left = until - environment.monotonic()
        if (!flying) {
          // Another node may have filled the key between the read and the claim.
          const { begun, answer: newer } = await departure.begin(completeBy - environment.now())
          if (begun) return this.#given(policy, key, newer, departure) ?? { outcome: null, flight: departure }
        }
        waits()
        if (left <= LOOK) break
        await delay(environment, LOOK)
        await this.#bounded(this.#validity.read())
      }
    } catch (error) {
      // The shared cache is down or slow, so the service is asked.
      this.#options.failed(error)
      return { outcome: null, flight: departure }
    }
    departure.end(null)
    return NOTHING
  }

  /** Null: there is no answer, or it is invalid or too old. A stale answer is given and the fill goes on. */
  #given(policy: CachePolicy, key: CacheKey, shared: SharedAnswer | null, departure: FillHandle): CacheLookup | null {
    const answer = shared && this.#remembered(shared)
    if (!answer || !this.#validity.holds(answer)) return null
    const now = this.#options.environment.monotonic()
    if (now >= answer.until) return null
    this.#memory.set(key.digest, answer)
    const stale = now >= answer.fresh
    const outcome = this.#outcomeOf(answer, 'shared', stale)
    if (stale && policy.stale > 0) return { outcome, flight: departure }
    departure.end(null)
    return { outcome, flight: null }
  }

  #depart(policy: CachePolicy, { digest, names }: CacheKey): Departure {
    const landed = Promise.withResolvers<void>()
    let seen = this.#validity.generation
    this.#flights.set(digest, landed.promise)
    let over = false
    const begin: Departure['begin'] = async (within) => {
      const { shared } = this.#options
      // The service is asked only now, so invalidations made while this lookup waited do not concern the answer.
      seen = this.#validity.generation
      if (!policy.shared || shared === null) return ALONE
      try {
        return await this.#bounded(shared.begin(digest, Math.max(1, Math.ceil(within))))
      } catch (error) {
        // The cache cannot tell whether another node fills the key, so this one asks the service.
        this.#options.failed(error)
        return ALONE
      }
    }
    return {
      begin,
      claim: async (within) => (await begin(within)).begun,
      end: (outcome) => {
        if (over) return
        over = true
        const kept = outcome && keptOf(outcome, policy, this.#options.environment.random())
        if (kept) this.#keep(policy, digest, { value: JSON.stringify(kept), names, seen, age: 0 })
        else if (this.#shares(policy))
          this.#told(this.#options.store.endFill({ key: digest, node: this.#options.node }))
        this.#flights.delete(digest)
        landed.resolve()
      },
    }
  }

  #keep(
    policy: CachePolicy,
    digest: string,
    answer: { value: string; names: readonly string[]; seen: number; age: number },
  ) {
    const remembered = this.#remembered(answer)
    if (!remembered) return
    this.#memory.set(digest, remembered)
    if (policy.shared && this.#options.shared)
      this.#told(this.#options.shared.set(digest, answer, remembered.until - remembered.at))
  }

  /** Null: the stored answer is in a form that this version does not know. */
  #remembered({
    value,
    names,
    seen,
    age,
  }: {
    value: string
    names: readonly string[]
    seen: number
    age: number
  }): MemoryAnswer | null {
    const { fresh, stale } = JSON.parse(value) as StoredAnswer
    if (!Number.isFinite(fresh) || !Number.isFinite(stale)) return null
    const at = this.#options.environment.monotonic() - Math.max(0, age)
    return { value, names, seen, at, fresh: at + fresh, until: at + fresh + stale }
  }

  #outcomeOf({ value, at }: MemoryAnswer, from: CacheMark['from'], stale = false): Outcome {
    const { environment } = this.#options
    const { output, error } = JSON.parse(value) as StoredAnswer
    const kept = Math.round(environment.now() - (environment.monotonic() - at))
    const cached: CacheMark = { at: kept, from, ...(stale && { stale: true }) }
    if (error) return { kind: 'failed', error, retryable: false, cached }
    return { kind: 'done', output: output ?? null, cached }
  }

  #shares({ shared }: CachePolicy): boolean {
    return shared && this.#options.shared !== null
  }

  /** Lets the work run without waiting for it; failures are reported. */
  #told(work: Promise<unknown>): void {
    work.catch(this.#options.failed)
  }

  /** Rejects if the work takes longer than the deadline. */
  async #bounded<T>(work: Promise<T>): Promise<T> {
    const { environment, deadline } = this.#options
    const over = new AbortController()
    const late = delay(environment, deadline, over.signal).then(() => {
      throw new Error(`a cache did not answer within ${deadline} ms`)
    })
    late.catch(() => undefined)
    try {
      return await Promise.race([work, late])
    } finally {
      over.abort()
      work.catch(() => undefined)
    }
  }

  /** Resolves to false if the time is over before the work. */
  async #before(until: number, work: Promise<void>): Promise<boolean> {
    const { environment } = this.#options
    const over = new AbortController()
    const late = delay(environment, Math.max(0, until - environment.monotonic()), over.signal).then(() => false)
    const done = await Promise.race([work.then(() => true), late])
    over.abort()
    return done
  }
}

/** What to store of an outcome; null: it must not be given to other attempts. */
function keptOf(outcome: Outcome, { ttl, stale, jitter, negative }: CachePolicy, random: number): StoredAnswer | null {
  const share = 1 - jitter * random
  if (outcome.kind === 'done') return { output: outcome.output, fresh: ttl * share, stale }
  if (outcome.kind !== 'failed' || outcome.retryable || outcome.unknown || outcome.lost || negative === 0) return null
  return { error: outcome.error, fresh: negative * share, stale: 0 }
}
