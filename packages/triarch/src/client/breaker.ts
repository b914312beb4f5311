import { TriarchError } from '../error/error.ts'
import { breakerAlert } from '../flow/breaker-change.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import { type BreakerChangeOrigin, type BreakerState, forceClosed, forceOpen, reset } from '../policy/breaker.ts'
import { KEYED, refsOf } from '../store/breaker.ts'
import { type StoredBreaker, storedBreaker } from '../store/circuit.ts'
import type { BreakerRow } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { type BreakerInfo, breakerInfo } from '../view/breaker.ts'
import { actor as acting, entryOf } from './act.ts'
import type { Connection } from './connection.ts'

/**
 * Why a circuit breaker is changed by hand, and by whom; both are stored with the change.
 * @example await triarch.breakers.get('payments').close({ reason: 'the bank says it is well', actor: 'ada' })
 */
export interface BreakerControlOptions {
  /** The reason: up to 1,000 characters. */
  reason: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * Why a circuit breaker is opened by hand, and for how long.
 * @example
 * const until = new Date('2026-01-01T04:00:00Z')
 * await triarch.breakers.get('payments').open({ reason: 'maintenance of the bank', until })
 */
export interface BreakerOpenOptions extends BreakerControlOptions {
  /** When its probes begin to try the service. By default it stays open until an operator closes it. */
  until?: Date
}

/**
 * Which circuit breakers to list, and how many.
 * @example const { breakers } = await triarch.breakers.list({ limit: 50 })
 */
export interface BreakersOptions {
  /** `next` of the previous page. */
  cursor?: string
  /** Circuit breakers a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the circuit breakers, by name.
 * @example
 * const page: BreakerPage = await triarch.breakers.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.breakers.list({ cursor: page.next })
 */
export interface BreakerPage {
  /** The circuit breakers of this page. */
  breakers: BreakerInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/** Gives up after concurrent changes have won this many times. */
const PATIENCE = 20
const LONGEST = 1_000
/** Most breakers of one page. */
export const MOST_BREAKERS = 1_000

/**
 * One circuit breaker: its state, and changing it by hand.
 * @example
 * const breaker: BreakerHandle = triarch.breakers.get('payments#eu')
 * const { state, waiting } = await breaker.info()
 */
export interface BreakerHandle {
  /** The agent's name, or `agent#key`. */
  readonly name: string
  /**
   * Its current state. Throws UNKNOWN_BREAKER.
   * @example const { state, nextProbe, changes } = await triarch.breakers.get('payments').info()
   */
  info(): Promise<BreakerInfo>
  /**
   * Opens it: from then on no attempt starts on any node. Throws UNKNOWN_BREAKER, INVALID_OPTION.
   * @example await triarch.breakers.get('payments').open({ reason: 'the bank asked for it', actor: 'ada' })
   */
  open(options: BreakerOpenOptions): Promise<void>
  /**
   * Closes it: waiting attempts start in waves. If the service still fails, it opens again by itself. Throws UNKNOWN_BREAKER,
   * INVALID_OPTION.
   * @example await triarch.breakers.get('payments').close({ reason: 'mended' })
   */
  close(options: BreakerControlOptions): Promise<void>
  /**
   * Closes it and forgets its measurements and how often it opened, as if the service had never failed. Throws UNKNOWN_BREAKER,
   * INVALID_OPTION.
   * @example await triarch.breakers.get('payments').reset({ reason: 'another provider from now on' })
   */
  reset(options: BreakerControlOptions): Promise<void>
}

/**
 * The circuit breakers.
 * @example const { breakers }: BreakerPage = await triarch.breakers.list()
 */
export interface BreakerCollection {
  /**
   * A circuit breaker by its name: that of its agent, or `agent#key`. Whether it exists is only checked when it is used. Throws
   * INVALID_OPTION.
   * @example await triarch.breakers.get('payments').open({ reason: 'maintenance of the bank', actor: 'ada' })
   */
  get(name: string): BreakerHandle

  /**
   * Circuit breakers by name, a page at a time. For an agent with keys, only keys that ever failed are listed. Throws UNKNOWN_OPTION,
   * INVALID_OPTION.
   * @example
   * const { breakers, next } = await triarch.breakers.list({ limit: 50 })
   * for (const { name, state, waiting } of breakers) console.log(name, state, waiting)
   */
  list(options?: BreakersOptions): Promise<BreakerPage>
}

/** The node of this process, if there is one. */
export interface BreakerNode {
  /** Called after a change. */
  changed(alert: RaisedAlert): void
  /** Resolves when the node has stored the breakers of its agents. */
  known(): Promise<void>
}

/** A breaker in the store, by name. */
export class NamedBreaker implements BreakerHandle {
  readonly name: string
  readonly #connection: Connection
  readonly #node: BreakerNode

  constructor(connection: Connection, name: string, node: BreakerNode) {
    this.name = checkText('breaker: name', name, 300)
    this.#connection = connection
    this.#node = node
  }

  async info(): Promise<BreakerInfo> {
    await this.#connection.opened()
    const now = await this.#connection.store.now()
    const [row] = await this.#rows([this.name], MOST_COUNTED)
    const info = row && breakerInfo(row, now)
    if (!info) throw this.#unknown()
    return info
  }

  async open(options: BreakerOpenOptions): Promise<void> {
    checkOptions('open', options ?? null, ['reason', 'until', 'actor'])
    const { until } = options
    if (until !== undefined && !(until instanceof Date && !Number.isNaN(until.getTime())))
      throw new TriarchError('INVALID_OPTION', 'open: until must be a Date')
    await this.#change(options, 'open', ({ state }, word) => forceOpen(state, until?.getTime() ?? null, word))
  }

  async close(options: BreakerControlOptions): Promise<void> {
    checkOptions('close', options ?? null, ['reason', 'actor'])
    await this.#change(options, 'close', ({ state, rule }, word) => forceClosed(state, rule, word))
  }

  async reset(options: BreakerControlOptions): Promise<void> {
    checkOptions('reset', options ?? null, ['reason', 'actor'])
    await this.#change(options, 'reset', ({ state, rule }, word) => reset(state, rule, word))
  }

  async #change(
    { reason, actor = acting() ?? 'operator', ...options }: BreakerOpenOptions,
    what: 'open' | 'close' | 'reset',
    change: (stored: StoredBreaker, word: BreakerChangeOrigin) => BreakerState,
  ): Promise<void> {
    checkText(`${what}: reason`, reason, LONGEST)
    checkText(`${what}: actor`, actor, 200)
    await this.#connection.opened()
    const { store, environment } = this.#connection
    const subject = `breaker:${this.name}`
    const audit = entryOf(environment, { action: `breaker.${what}`, subject, reason, actor, details: { ...options } })
    for (let round = 0; round < PATIENCE; round++) {
      const { stored, version } = await this.#stored()
      const state = change(stored, { at: await store.now(), by: actor, reason })
      if (state === stored.state) return
      const text = JSON.stringify({ ...stored, state })
      if (!(await store.writeBreaker({ kind: 'breaker', name: this.name, expected: version, state: text, audit })))
        continue
      const move = state.moves.at(-1)
      if (move) this.#node.changed(breakerAlert(this.name, move, state))
      return
    }
    throw new TriarchError('STORE_BUSY', `the circuit breaker of ${this.name} changes all the time`)
  }

  /** A breaker of a key that never failed has no row; its rule is in the row of the agent's breaker. */
  async #stored(): Promise<{ stored: StoredBreaker; version: number }> {
    const [agent = ''] = this.name.split(KEYED)
    const rows = await this.#rows([this.name, agent], 1)
    const row = rows.find(({ name }) => name === this.name)
    const own = row?.state == null ? null : storedBreaker(row.state)
    if (row && own && !own.keyed) return { stored: own, version: row.version }
    const of = rows.find(({ name }) => name === agent)
    const base = of?.state == null ? null : storedBreaker(of.state)
    if (own?.keyed) {
      throw new TriarchError(
        'INVALID_OPTION',
        `agent "${agent}" has a circuit breaker for each key: name one, as ${agent}${KEYED}key`,
      )
    }
    if (this.name === agent || !base?.keyed) throw this.#unknown()
    const { format, rule, state } = base
    return { stored: { format, rule, state: { ...state, moves: [] } }, version: row?.version ?? 0 }
  }

  /** Waits for a node of this process that has just started and may be about to store the breaker. */
  async #rows(names: readonly string[], count: number): Promise<BreakerRow[]> {
    const { store } = this.#connection
    const query = { refs: refsOf('breaker', names), count }
    const rows = await store.breakers(query)
    if (rows.some(({ state }) => state !== null)) return rows
    await this.#node.known()
    return store.breakers(query)
  }

  #unknown(): TriarchError {
    return new TriarchError('UNKNOWN_BREAKER', `there is no circuit breaker "${this.name}"`)
  }
}

/** The breakers in the store. */
export function breakersOf(connection: Connection, node: BreakerNode): BreakerCollection {
  return {
    get: (name) => new NamedBreaker(connection, name, node),
    async list(options = {}) {
      checkOptions('breakers.list', options, ['cursor', 'limit'])
      const { cursor: after = '', limit = 100 } = options
      checkInteger('breakers.list: limit', limit, 1, MOST_BREAKERS)
      checkText('breakers.list: cursor', after, 300)
      const { store, opened } = connection
      await opened()
      const [now, rows] = await Promise.all([
        store.now(),
        store.breakers({ kind: 'breaker', after, limit: limit + 1, count: MOST_COUNTED }),
      ])
      const breakers = rows.slice(0, limit).flatMap((row) => breakerInfo(row, now) ?? [])
      const last = rows[limit - 1]
      return { breakers, ...(rows.length > limit && last && { next: last.name }) }
    },
  }
}
