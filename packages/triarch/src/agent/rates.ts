import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { NEW_RATE, reserve } from '../policy/rate.ts'
import type { BreakerRow } from '../store/breaker.ts'
import type { StateStore } from '../store/port.ts'
import { rateRow, type StoredRate, storedRate } from '../store/rate.ts'
import type { Allowance } from './allowance.ts'

export interface RatesOptions {
  environment: Environment
  store: Pick<StateStore, 'breakers' | 'writeBreaker'>
  allowances: readonly Allowance[]
  /** Between two readings (ms). */
  every: number
  /** How far the store's clock may be ahead of the environment's (ms). */
  lag: () => number
  /** How many attempts of the agent could begin here now. */
  free: (agent: string) => number
  /** Attempts may begin that could not before. */
  wake: () => void
  failed: (error: unknown) => void
}

/** Two readings are at least so far apart, unless something is to be told (ms). */
const LEAST = 50
/** So far apart attempts are let go, at least (ms): those that become due meanwhile go together. */
const TOGETHER = 10
/** How long after a failure the store is asked again: at first, and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 2_000
/** Instants of one reservation. */
const PORTION = 500
/** Queues of keys that are read at a time. */
const LANES = 100
/** Others were quicker so often: it comes again with the next reading. */
const MOST_TRIES = 5

/** Reserves for this node its portions of the rate limits: the part of its allowances that waits. */
export class Rates implements Service {
  readonly #options: RatesOptions
  #open = false
  #timer: Timer | null = null
  #round: Promise<void> | null = null
  #hurry = false
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  #again: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: RatesOptions) {
    this.#options = options
    for (const allowance of options.allowances) allowance.hurry = () => this.#tell()
  }

  start(): void {
    this.#open = true
    this.#look()
  }

  /** Who starts nothing more needs nothing more; what was reserved becomes void by itself. */
  stop(): void {
    // A rest that the service asks for is still told until it has drained.
  }

  async drain(): Promise<void> {
    this.#open = false
    this.#timer?.cancel()
    await this.#round
    // The attempts that ended last may have asked for a rest that nobody else knows of.
    if (this.#options.allowances.some(({ rests }) => rests > 0)) await this.#all()
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

  #look(): void {
    if (!this.#open || this.#round !== null) return
    this.#hurry = false
    this.#lookedAt = this.#options.environment.monotonic()
    this.#round = this.#all().finally(() => {
      this.#round = null
      this.#wait()
    })
  }

  /** Until the next reading, or until one more attempt may begin. */
  #wait(): void {
    if (!this.#open) return
    const { environment, allowances, every } = this.#options
    this.#timer?.cancel()
    const since = environment.monotonic() - this.#lookedAt
    const due = Math.min(...allowances.map((it) => it.due))
    const look = this.#again ?? (this.#hurry ? TOGETHER : Math.min(every, Math.max(LEAST, due))) - since
    const next = Math.max(TOGETHER, Math.min(look, this.#again === null ? due : look))
    this.#timer = environment.timer(next, () => {
      const late = environment.monotonic() - this.#lookedAt
      if (this.#again !== null || this.#hurry || late >= LEAST) return this.#look()
      if (this.#ready) this.#options.wake()
      this.#wait()
    })
  }

  /** Something waits that may begin. */
  get #ready(): boolean {
    return this.#options.allowances.some(({ waiting, room }) => waiting > 0 && room > 0)
  }

  async #all(): Promise<void> {
    const { allowances, store, wake, failed } = this.#options
    try {
      const names = allowances.flatMap(({ name, agent }) => [rateRow(name), agent])
      const rows = await store.breakers({ names: [...new Set(names)], count: PORTION })
      const found = new Map(rows.map((row) => [row.name, row]))
      const keyed = await this.#keyed()
      for (const allowance of allowances) {
        const row = found.get(rateRow(allowance.name))
        allowance.counted((found.get(allowance.agent)?.waiting ?? 0) + (keyed.get(allowance.agent) ?? 0))
        allowance.take(row?.version ?? 0, storedRate(row?.state ?? null)?.state ?? NEW_RATE)
        await this.#reserve(allowance)
        allowance.looked()
      }
      this.#again = null
      this.#backoff.reset()
      if (this.#open && this.#ready) wake()
    } catch (error) {
      this.#again = this.#backoff.next()
      if (this.#open) failed(error)
    }
  }

  /** How many wait in the queues of keys, by agent: counted up to one reservation. */
  async #keyed(): Promise<ReadonlyMap<string, number>> {
    const { allowances, store } = this.#options
    const waiting = new Map<string, number>()
    for (const agent of new Set(allowances.filter(({ isKeyed }) => isKeyed).map((it) => it.agent))) {
      let count = 0
      for (let after: string | undefined = agent; after !== undefined && count < PORTION; ) {
        const rows: readonly BreakerRow[] = await store.breakers({ agent, after, limit: LANES, count: PORTION })
        for (const row of rows) count += row.waiting
        after = rows.length === LANES ? rows.at(-1)?.name : undefined
      }
      waiting.set(agent, count)
    }
    return waiting
  }

  async #reserve(allowance: Allowance): Promise<void> {
    const { environment, store, lag, free } = this.#options
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { said, rule, version, name } = allowance
      const wants = this.#open ? allowance.wants(Math.min(PORTION, free(allowance.agent))) : 0
      const { state, instants } = reserve(said, rule, environment.now(), wants, lag())
      // That there is such a limit is known before anything waits for it.
      if (version > 0 && state === allowance.state) return
      const stored: StoredRate = { format: 'rate-1', state, rule }
      const row = rateRow(name)
      if (await store.writeBreaker({ name: row, expected: version, state: JSON.stringify(stored) })) {
        allowance.take(version + 1, state)
        return allowance.reserved(instants)
      }
      const [now] = await store.breakers({ names: [row], count: 1 })
      allowance.take(now?.version ?? 0, storedRate(now?.state ?? null)?.state ?? NEW_RATE)
    }
  }
}
