import { toRateRule } from '../definition/rate.ts'
import { TriarchError } from '../error/error.ts'
import { MOST_MOVES, type RateHand, type RateMove, type RateRule, type RateState } from '../policy/rate.ts'
import type { BreakerQuery, BreakerRow } from '../store/port.ts'
import { type StoredRate, storedRate } from '../store/rate.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import type { Duration } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { type RateLimitInfo, rateLimitInfo } from '../view/rate-limit.ts'
import { actor as acting, entryOf } from './act.ts'
import type { Connection } from './connection.ts'

/**
 * Why a rate limit is changed by hand, and by whom; both are stored with the change.
 * @example await triarch.rateLimits.get('payments').restore({ reason: 'the sale is over', actor: 'ada' })
 */
export interface RateLimitControlOptions {
  /** The reason: up to 1,000 characters. */
  reason: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * Why a rate limit is lifted, and for how long.
 * @example
 * const until = new Date('2026-11-27T23:59:00Z')
 * await triarch.rateLimits.get('payments').lift({ reason: 'the bank knows of the sale', until })
 */
export interface RateLimitLiftOptions extends RateLimitControlOptions {
  /** When the limit applies again; by default when an operator restores it. */
  until?: Date
}

/**
 * Why a rate limit is replaced, for how long, and by what.
 * @example await triarch.rateLimits.get('payments').change({ limit: 20, per: '1s', reason: 'a slow day' })
 */
export interface RateLimitForceOptions extends RateLimitLiftOptions {
  /** Attempts that may begin in each `per`: 1 to 1,000,000. */
  limit: number
  /** The period: 100 ms to a day. */
  per: Duration
  /** As in `RateLimitOptions`. */
  burst?: number
}

/**
 * Which rate limits to list, and how many.
 * @example const { rateLimits } = await triarch.rateLimits.list({ limit: 50 })
 */
export interface RateLimitsOptions {
  /** `next` of the previous page. */
  cursor?: string
  /** Rate limits a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the rate limits, by name.
 * @example
 * const page: RateLimitPage = await triarch.rateLimits.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.rateLimits.list({ cursor: page.next })
 */
export interface RateLimitPage {
  /** The rate limits of this page. */
  rateLimits: RateLimitInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/** Gives up after concurrent changes have won this many times. */
const PATIENCE = 20
const LONGEST = 1_000
const LONGEST_NAME = 300

/**
 * One rate limit: its state, and changing it by hand.
 * @example
 * const limit: RateLimitHandle = triarch.rateLimits.get('payments.refund')
 * const { waiting, rests } = await limit.info()
 */
export interface RateLimitHandle {
  /** The agent's name or `agent.action`; with `#key`, the limit of one key. */
  readonly name: string
  /**
   * Its current state. Throws UNKNOWN_RATE_LIMIT.
   * @example const { limit, per, forced, changes } = await triarch.rateLimits.get('payments').info()
   */
  info(): Promise<RateLimitInfo>
  /**
   * Replaces the limit for a time; all nodes apply it a poll later. Throws UNKNOWN_RATE_LIMIT, INVALID_OPTION, INVALID_DURATION.
   * @example await triarch.rateLimits.get('payments').change({ limit: 20, per: '1s', reason: 'a slow day' })
   */
  change(options: RateLimitForceOptions): Promise<void>
  /**
   * Lifts the limit for a time; a cooldown that the service asked for ends. Throws UNKNOWN_RATE_LIMIT, INVALID_OPTION.
   * @example await triarch.rateLimits.get('payments').lift({ reason: 'the bank has no limit tonight' })
   */
  lift(options: RateLimitLiftOptions): Promise<void>
  /**
   * Restores the limit of the code or of a setting; a cooldown that the service asked for ends. Throws UNKNOWN_RATE_LIMIT,
   * INVALID_OPTION.
   * @example await triarch.rateLimits.get('payments').restore({ reason: 'the sale is over' })
   */
  restore(options: RateLimitControlOptions): Promise<void>
}

/**
 * The rate limits.
 * @example const { rateLimits }: RateLimitPage = await triarch.rateLimits.list()
 */
export interface RateLimitCollection {
  /**
   * A rate limit by its name: that of its agent or `agent.action`, with `#key` that of one key. Whether it exists is only checked when it
   * is used. Throws INVALID_OPTION.
   * @example await triarch.rateLimits.get('payments').change({ limit: 20, per: '1s', reason: 'a slow day' })
   */
  get(name: string): RateLimitHandle

  /**
   * Rate limits by name, a page at a time: those that nodes know; of limits with keys, the keys in use. Throws UNKNOWN_OPTION,
   * INVALID_OPTION.
   * @example
   * const { rateLimits } = await triarch.rateLimits.list({ limit: 50 })
   * for (const { name, limit, per, waiting } of rateLimits) console.log(name, limit, per, waiting)
   */
  list(options?: RateLimitsOptions): Promise<RateLimitPage>
}

/** A rate limit in the store, by name. */
export class NamedRateLimit implements RateLimitHandle {
  readonly name: string
  readonly #connection: Connection
  /** Resolves when the node of this process has stored the limits of its agents. */
  readonly #known: () => Promise<void>

  constructor(connection: Connection, name: string, known: () => Promise<void>) {
    this.name = checkText('rateLimit: name', name, LONGEST_NAME)
    this.#connection = connection
    this.#known = known
  }

  async info(): Promise<RateLimitInfo> {
    await this.#connection.opened()
    const now = await this.#connection.store.now()
    const row = await this.#row({ limits: [this.name], count: MOST_COUNTED })
    const info = row && rateLimitInfo(row, now)
    if (!info) throw this.#unknown()
    return info
  }

  async change(options: RateLimitForceOptions): Promise<void> {
    checkOptions('change', options ?? null, ['limit', 'per', 'burst', 'reason', 'until', 'actor'])
    const { limit, per, burst } = options
    const rule = toRateRule('change', { limit, per, ...(burst !== undefined && { burst }) })
    await this.#force('changed', options, rule, (state) => state)
  }

  async lift(options: RateLimitLiftOptions): Promise<void> {
    checkOptions('lift', options ?? null, ['reason', 'until', 'actor'])
    await this.#force('lifted', options, null, awake)
  }

  async restore(options: RateLimitControlOptions): Promise<void> {
    checkOptions('restore', options ?? null, ['reason', 'actor'])
    await this.#write('restored', options, null, awake)
  }

  async #force(
    did: RateMove['did'],
    options: RateLimitLiftOptions,
    rule: RateRule | null,
    change: (state: RateState) => RateState,
  ): Promise<void> {
    const { until } = options
    if (until !== undefined && !(until instanceof Date && !Number.isNaN(until.getTime())))
      throw new TriarchError('INVALID_OPTION', 'rateLimit: until must be a Date')
    await this.#write(did, options, { rule, until: until?.getTime() ?? null }, change)
  }

  async #write(
    did: RateMove['did'],
    { reason, actor = acting() ?? 'operator' }: RateLimitControlOptions,
    hand: RateHand | null,
    change: (state: RateState) => RateState,
  ): Promise<void> {
    checkText('rateLimit: reason', reason, LONGEST)
    checkText('rateLimit: actor', actor, 200)
    await this.#connection.opened()
    const { store, environment } = this.#connection
    const ref = { kind: 'rate', name: this.name } as const
    const details = { ...hand?.rule, until: hand?.until ?? undefined }
    const subject = `rate-limit:${this.name}`
    const audit = entryOf(environment, { action: `rate-limit.${acts[did]}`, subject, reason, actor, details })
    for (let round = 0; round < PATIENCE; round++) {
      const row = await this.#row({ refs: [ref], count: 1 })
      const stored = storedRate(row?.state ?? null)
      if (!row || !stored) throw this.#unknown()
      const { hand: _, moves = [], ...rest } = stored
      const move = { at: await store.now(), did, by: actor, reason }
      const next: StoredRate = {
        ...rest,
        state: change(stored.state),
        ...(hand && { hand }),
        moves: [...moves, move].slice(-MOST_MOVES),
      }
      if (await store.writeBreaker({ ...ref, expected: row.version, state: JSON.stringify(next), audit })) return
    }
    throw new TriarchError('STORE_BUSY', `the rate limit of ${this.name} changes all the time`)
  }

  /** Waits for a node of this process that has just started and may be about to store the limit. */
  async #row(query: BreakerQuery): Promise<BreakerRow | undefined> {
    const { store } = this.#connection
    const [row] = await store.breakers(query)
    if (row && row.version > 0) return row
    await this.#known()
    return (await store.breakers(query))[0]
  }

  #unknown(): TriarchError {
    return new TriarchError('UNKNOWN_RATE_LIMIT', `there is no rate limit "${this.name}"`)
  }
}

/** The names of the acts in the audit. */
const acts: Readonly<Record<RateMove['did'], string>> = { changed: 'change', lifted: 'lift', restored: 'restore' }

function awake(state: RateState): RateState {
  return { ...state, rests: 0 }
}

/** The rate limits in the store. `known`: resolves when the node of this process has stored those of its agents. */
export function rateLimitsOf(connection: Connection, known: () => Promise<void>): RateLimitCollection {
  return {
    get: (name) => new NamedRateLimit(connection, name, known),
    async list(options = {}) {
      checkOptions('rateLimits.list', options, ['cursor', 'limit'])
      const { cursor = '', limit = 100 } = options
      checkInteger('rateLimits.list: limit', limit, 1, 1_000)
      checkText('rateLimits.list: cursor', cursor, LONGEST_NAME)
      await connection.opened()
      const { store } = connection
      const found = await store.breakers({ kind: 'rate', after: cursor, limit: limit + 1, count: 1 })
      const names = found.map(({ name }) => name)
      const shown = names.slice(0, limit)
      const [now, rows] = await Promise.all([
        store.now(),
        shown.length > 0 ? store.breakers({ limits: shown, count: MOST_COUNTED }) : [],
      ])
      const rateLimits = rows.flatMap((row) => rateLimitInfo(row, now) ?? [])
      const last = shown.at(-1)
      return { rateLimits, ...(names.length > limit && last !== undefined && { next: last }) }
    },
  }
}
