import type { Outcome } from '../kernel/message.ts'
import type { KeyedRateLimit } from './keyed-rate-limit.ts'
import type { RateReservation } from './rate-reservation.ts'

/** The rate limits of one agent: its own, and those of its actions. */
export class RateLimiter {
  readonly agent: string
  /** By the name of the agent or of an action. */
  readonly #quotas: Map<string, KeyedRateLimit>

  /** The reservations of actions without limits by key, which are always the same. */
  readonly #plain = new Map<string, readonly RateReservation[]>()

  constructor(agent: string, quotas: readonly KeyedRateLimit[]) {
    this.agent = agent
    this.#quotas = new Map(quotas.map((quota) => [quota.name, quota]))
  }

  add(quota: KeyedRateLimit): void {
    this.#quotas.set(quota.name, quota)
    this.#plain.clear()
  }

  remove({ name }: KeyedRateLimit): void {
    this.#quotas.delete(name)
    this.#plain.clear()
  }

  get all(): KeyedRateLimit[] {
    return [...this.#quotas.values()]
  }

  /** Actions with a limit of their own. */
  get limited(): string[] {
    return [...this.#quotas.keys()].filter((name) => name !== this.agent)
  }

  /** Whether attempts of every action may begin now, limits by key aside. */
  get open(): boolean {
    return this.all.every((quota) => quota.isKeyed || quota.all.every(({ room }) => room > 0))
  }

  /** Whether attempts of requests in this queue may begin now. */
  isOpen(queue: string): boolean {
    return this.all.every((quota) => {
      const it = quota.of(queue)
      return it === undefined || (it !== null && it.room > 0)
    })
  }

  /** Whether attempts of the action have limits by key. */
  isKeyed(action: string): boolean {
    return this.#those(action).some((it) => it.isKeyed)
  }

  /**
   * How many attempts may begin now of what waits in this queue, of any action without a limit of its own (null), or of this one. Where
   * nobody knows the key, any number: each is given back to the queue of its own.
   */
  room(action: string | null, queue: string): number {
    const all = this.#of(action, queue)
    return all ? Math.min(Number.POSITIVE_INFINITY, ...all.map(({ room }) => room)) : 0
  }

  /** Promises an instant to an attempt that starts once its transition is recorded. False: it must wait in the queue. */
  promise(action: string): boolean {
    if (this.isKeyed(action)) return false
    const all = this.#of(action, this.agent) ?? []
    if (all.every(({ ample }) => ample)) return all.every((it) => it.promise())
    for (const it of all) it.expect()
    return false
  }

  /** A request will wait in this queue, by its key. */
  expect(action: string, queue: string): void {
    for (const it of this.#of(action, queue) ?? []) it.expect()
  }

  /** Requests may wait in this queue that were not announced, because a breaker kept them there. */
  seek(action: string | null, queue: string): void {
    for (const it of this.#of(action, queue) ?? []) if (it.waiting === 0 && it.room === 0) it.expect()
  }

  /** Uses an instant and returns null, or returns the outcome of an attempt that must wait. `queue`: where it waits by its key. */
  meet(action: string, queue: string): Outcome | null {
    const all = this.#of(action, queue)
    if (all?.every(({ open }) => open)) {
      for (const it of all) it.use()
      return null
    }
    for (const it of all ?? []) it.expect()
    return { kind: 'withdrawn', after: ASK_AGAIN, lane: this.isKeyed(action) ? queue : this.agent }
  }

  /** Whether attempts of the action are under any limit. */
  limits(action: string): boolean {
    return this.#those(action).length > 0
  }

  /** The service asked for no calls for so long (ms). */
  rest(action: string, queue: string, ms: number): void {
    for (const it of this.#of(action, queue) ?? []) it.rest(ms)
  }

  #those(action: string | null): KeyedRateLimit[] {
    const own = this.#quotas.get(this.agent)
    const its = action === null ? undefined : this.#quotas.get(action)
    return [...(own ? [own] : []), ...(its ? [its] : [])]
  }

  /** Null: there are too many keys at present. */
  #of(action: string | null, queue: string): readonly RateReservation[] | null {
    const known = action === null ? undefined : this.#plain.get(action)
    if (known) return known
    const all = this.#those(action).map((quota) => quota.of(queue))
    if (all.includes(null)) return null
    const found = all.filter((it) => it != null)
    if (action !== null && !this.isKeyed(action)) this.#plain.set(action, found)
    return found
  }
}

/** A process across the wire is not told which limit refused: it asks again after this (ms). */
const ASK_AGAIN = 1_000
