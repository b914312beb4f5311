import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { NEW_RATE, reserve, tolerance } from '../policy/rate.ts'
import { type BreakerRow, KEYED, refsOf } from '../store/breaker.ts'
import type { StateStore } from '../store/port.ts'
import { type StoredRate, storedRate } from '../store/rate.ts'
import { noTelemetry, type Telemetry } from '../telemetry/outlet.ts'
import type { KeyedRateLimit } from './keyed-rate-limit.ts'
import type { RateReservation } from './rate-reservation.ts'

export interface RateSyncOptions {
  environment: Environment
  store: Pick<StateStore, 'breakers' | 'writeBreaker'>
  quotas: () => readonly KeyedRateLimit[]
  /** Between two readings (ms). */
  every: number
  /** How far the store's clock may be ahead of the environment's (ms). */
  lag: () => number
  /** How many attempts of the agent could begin in this process now. */
  free: (agent: string) => number
  /** Called when attempts may begin that could not before. */
  wake: () => void
  failed: (error: unknown) => void
  /** The node's id, for telemetry. */
  node?: string
  telemetry?: Telemetry
}

/** The least distance of two readings, unless something is to be written (ms). */
const LEAST = 50
/** Limits that are not in use are read so many times less often. */
const QUIET = 5
/** The least distance of two wake-ups (ms): attempts that become due in between begin together. */
const TOGETHER = 10
/** The wait before a failed round is tried again: at first, and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 2_000
/** Instants of one reservation at most. */
const PORTION = 500
const NOTHING = { needs: 0, likes: 0 }
/** The row of a key that was not used for this long is deleted (ms). */
const KEPT = 60_000
/** How often rows of keys that no node knows are looked for (ms), and how many at a time. */
const SWEEP = 600_000
const SWEPT = 100
/** Lost races for one row before it is left to the next reading. */
const MOST_TRIES = 5

/** Reserves instants of the rate limits for this node, in rounds of reading and writing the store. */
export class RateSync implements Service {
  readonly #options: RateSyncOptions
  #open = false
  #timer: Timer | null = null
  #round: Promise<void> | null = null
  #hurry = false
  /** A request came into a queue since the last round. */
  #heard = false
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  #again: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  #sweptAt = Number.NEGATIVE_INFINITY
  /** Limits of which telemetry was told that attempts wait for them. */
  readonly #holding = new Set<string>()
  /** By limit: the row after which the next sweep begins. */
  readonly #swept = new Map<string, string>()
  /** Removed limits whose rows may still exist. */
  readonly #withdrawn = new Set<string>()

  constructor(options: RateSyncOptions) {
    this.#options = options
    for (const quota of options.quotas()) quota.hurry = () => this.#tell()
  }

  /** Adds a limit that came later. */
  add(quota: KeyedRateLimit): void {
    for (const { name } of quota.all) this.#withdrawn.delete(name)
    quota.hurry = () => this.#tell()
    this.#tell()
  }

  /** Removes a limit. */
  withdraw(quota: KeyedRateLimit): void {
    quota.hurry = () => undefined
    for (const { name } of quota.all) this.#withdrawn.add(name)
    this.#tell()
  }

  start(): void {
    this.#open = true
    this.#look()
  }

  /** Resolves when the first reading is over. */
  async known(): Promise<void> {
    await this.#round
  }

  /** A node that starts no more attempts reserves nothing; what it has becomes void. */
  stop(): void {
    // A cooldown that a service asks for is still written until it has drained.
  }

  async drain(): Promise<void> {
    this.#open = false
    this.#timer?.cancel()
    await this.#round
    // The last attempts may have received a cooldown that is not written yet.
    if (this.#allowances.some(({ rests }) => rests > 0)) await this.#all()
  }

  abandon(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  #tell(): void {
    if (this.#hurry || !this.#open) return
    this.#hurry = true
    if (this.#round === null) this.#wait()
  }

  /** A request came into a queue of this node. */
  heard(): void {
    if (this.#heard || !this.#open || this.#none) return
    this.#heard = true
    if (this.#round === null) this.#wait()
  }

  get #none(): boolean {
    return this.#withdrawn.size === 0 && this.#options.quotas().length === 0
  }

  #look(): void {
    if (!this.#open || this.#round !== null) return
    this.#hurry = false
    this.#heard = false
    if (this.#none) return
    this.#lookedAt = this.#options.environment.monotonic()
    this.#round = this.#all().finally(() => {
      this.#round = null
      this.#wait()
    })
  }

  /** Waits until the next reading, or until one more attempt may begin. */
  #wait(): void {
    if (!this.#open) return
    const { environment } = this.#options
    const every = this.#every * (this.#quiet ? QUIET : 1)
    this.#timer?.cancel()
    const since = environment.monotonic() - this.#lookedAt
    const due = this.#allowances.reduce(
      (first, it) => (it.due < first && this.#isUsable(it) ? it.due : first),
      Number.POSITIVE_INFINITY,
    )
    const look = this.#again ?? (this.#hurry ? TOGETHER : Math.min(every, Math.max(LEAST, due))) - since
    const next = Math.max(TOGETHER, Math.min(look, this.#again === null ? due : look))
    this.#timer = environment.timer(next, () => {
      const late = environment.monotonic() - this.#lookedAt
      if (this.#again !== null || this.#hurry || late >= LEAST) return this.#look()
      if (this.#ready) this.#options.wake()
      this.#wait()
    })
  }

  /** The distance of two rounds while limits are in use (ms): less where reserved instants would be void before. */
  get #every(): number {
    const lasts = this.#allowances.reduce((first, it) => Math.min(first, it.lasts), Number.POSITIVE_INFINITY)
    return Math.min(this.#options.every, Math.max(LEAST, lasts))
  }

  /** Requests that wait by keys are found by reading alone. */
  get #quiet(): boolean {
    return (
      !this.#heard && this.#options.quotas().every(({ isKeyed, all }) => !isKeyed && all.every(({ quiet }) => quiet))
    )
  }

  /** Whether a request waits that may begin. */
  get #ready(): boolean {
    return this.#allowances.some(({ waiting, room }) => waiting > 0 && room > 0)
  }

  async #all(): Promise<void> {
    const { store, wake, failed } = this.#options
    try {
      const allowances = this.#allowances
      const rows = await store.breakers({ limits: allowances.map(({ name }) => name), count: PORTION })
      const found = new Map(rows.map((row) => [row.name, row]))
      for (const allowance of allowances) {
        const row = found.get(allowance.name)
        allowance.counted(row?.waiting ?? 0)
        const moves = take(allowance, row)
        await this.#reserve(allowance, moves)
        this.#tellOf(allowance)
      }
      if (this.#withdrawn.size > 0) await this.#void()
      const made = await this.#drop()
      await this.#sweep()
      this.#again = null
      this.#backoff.reset()
      if (this.#open && (made || this.#ready)) wake()
    } catch (error) {
      this.#again = this.#backoff.next()
      if (this.#open) failed(error)
    }
  }

  /** Tells telemetry once when a limit begins to hold attempts back, and once when no attempt waits any more. */
  #tellOf({ name, waiting, room }: RateReservation): void {
    const { environment, node = null, telemetry = noTelemetry } = this.#options
    const outlet = telemetry['rate:moved']
    const held = this.#holding.has(name)
    if (held ? waiting > 0 : waiting === 0 || room > 0) return
    if (held) this.#holding.delete(name)
    if (!outlet.open) return
    if (!held) this.#holding.add(name)
    outlet.tell({ at: environment.now(), node, limit: name, to: held ? 'free' : 'holding', waiting })
  }

  /**
   * Whether an instant of this limit could be used now. Where an attempt has a limit of its agent and one of its action, those of the agent are reserved
   * first: if one node held an instant of the one limit and another node of the other until they are void, neither could begin, time after time.
   */
  #isUsable(allowance: RateReservation): boolean {
    const { agent, name, waiting, next } = allowance
    const limit = this.#options.quotas().find((quota) => quota.name === agent)
    if (waiting === 0 || !limit || name === agent || name.startsWith(agent + KEYED)) return true
    const key = name.indexOf(KEYED)
    const ofAgent = limit.isKeyed && key >= 0 ? [limit.known(name.slice(key))] : limit.all
    return ofAgent.some((its) => its === undefined || its.waiting === 0 || its.until > next)
  }

  get #allowances(): RateReservation[] {
    return this.#options.quotas().flatMap(({ all }) => all)
  }

  /** Deletes the rows of removed limits once they bind nothing: other nodes may still use them. */
  async #void(): Promise<void> {
    const { environment, store, lag } = this.#options
    const rows = await store.breakers({ refs: refsOf('rate', this.#withdrawn), count: 1 })
    const found = new Map(rows.map((row) => [row.name, row]))
    for (const name of [...this.#withdrawn]) {
      const row = found.get(name)
      const stored = storedRate(row?.state ?? null)
      if (row && stored && !stored.hand) {
        if (!isIdle(stored, environment.now() - lag())) continue
        await store.writeBreaker({ kind: 'rate', name, expected: row.version, state: null })
      }
      this.#withdrawn.delete(name)
    }
  }

  /** Drops keys that are not in use, with their rows: sooner where other keys wait for room. Returns whether it made room. */
  async #drop(): Promise<boolean> {
    let made = false
    for (const quota of this.#options.quotas().filter(({ isKeyed }) => isKeyed)) {
      const kept = quota.full ? 0 : KEPT
      for (const allowance of quota.all) {
        const { name, version, idle } = allowance
        if (idle <= kept) continue
        // The row binds nothing: without it the next attempt begins at the same instant.
        if (version > 0) await this.#options.store.writeBreaker({ kind: 'rate', name, expected: version, state: null })
        made ||= quota.full
        this.#holding.delete(name)
        quota.drop(allowance)
      }
    }
    return made
  }

  /** Deletes rows of keys whose nodes died before they dropped them. */
  async #sweep(): Promise<void> {
    const { environment, store, lag } = this.#options
    const at = environment.monotonic()
    if (at - this.#sweptAt < SWEEP) return
    this.#sweptAt = at
    for (const { name, isKeyed } of this.#options.quotas()) {
      if (!isKeyed) continue
      const first = name + KEYED
      const rows = await store.breakers({ kind: 'rate', after: this.#swept.get(name) ?? first, limit: SWEPT, count: 1 })
      const own = rows.filter((row) => row.name.startsWith(first))
      this.#swept.set(name, own.length === SWEPT ? (own.at(-1)?.name ?? first) : first)
      for (const row of own) {
        const stored = storedRate(row.state)
        if (!stored || isIdle(stored, environment.now() - lag() - SWEEP))
          await store.writeBreaker({ kind: 'rate', name: row.name, expected: row.version, state: null })
      }
    }
  }

  async #reserve(allowance: RateReservation, read: StoredRate['moves']): Promise<void> {
    const { environment, store, lag, free } = this.#options
    let moves = read
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { said, rule, own, hand, version, name, changes } = allowance
      const isUsable = this.#open && this.#isUsable(allowance)
      const wants = isUsable ? allowance.wants(Math.min(PORTION, free(allowance.agent)), this.#every) : NOTHING
      const { state, runs } = reserve(said, rule, environment.now(), wants, lag())
      // The row of a limit is written before any request waits for it.
      if (state === allowance.state && (version > 0 || name.includes(KEYED))) return allowance.settled(changes)
      const kept = { ...(hand && { hand }), ...(moves && { moves }) }
      const stored: StoredRate = { format: 'rate-1', state, rule: own, ...kept }
      if (await store.writeBreaker({ kind: 'rate', name, expected: version, state: JSON.stringify(stored) })) {
        allowance.take(version + 1, state, hand)
        allowance.settled(changes)
        return allowance.reserved(runs)
      }
      const [now] = await store.breakers({ refs: [{ kind: 'rate', name }], count: 1 })
      moves = take(allowance, now)
    }
  }
}

/** Takes in what was read. Returns the operators' moves. */
function take(allowance: RateReservation, row: BreakerRow | undefined): StoredRate['moves'] {
  const { state = NEW_RATE, hand, moves } = storedRate(row?.state ?? null) ?? {}
  allowance.take(row?.version ?? 0, state, hand)
  return moves
}

function isIdle({ state, rule, hand }: StoredRate, since: number): boolean {
  return !hand && state.rests < since && state.next + tolerance(rule) < since
}
