import type { RateRule } from '../policy/rate.ts'
import { KEYED } from '../store/breaker.ts'
import type { RateReservation } from './rate-reservation.ts'

/** Keys of one limit that a node has reservations for at a time. */
const MOST_KEYS = 1_000

/** This node's reservations of one rate limit of an agent or an action: one, or one for each key of the input. */
export class KeyedRateLimit {
  /** `agent`, or `agent.action`. */
  readonly name: string
  readonly isKeyed: boolean
  #rule: RateRule
  readonly #make: (name: string, rule: RateRule) => RateReservation
  /** By the key, as it follows the name of the limit. */
  readonly #allowances = new Map<string, RateReservation>()
  #hurry: () => void = () => undefined

  constructor(
    { name, isKeyed }: { name: string; isKeyed: boolean },
    rule: RateRule,
    make: (name: string, rule: RateRule) => RateReservation,
  ) {
    this.name = name
    this.isKeyed = isKeyed
    this.#rule = rule
    this.#make = make
    if (!isKeyed) this.#allowances.set('', make(name, rule))
  }

  /** Called when the store should be written soon. */
  set hurry(hurry: () => void) {
    this.#hurry = hurry
    for (const allowance of this.all) allowance.hurry = hurry
  }

  get rule(): RateRule {
    return this.#rule
  }

  get all(): RateReservation[] {
    return [...this.#allowances.values()]
  }

  /** Changes the rule. */
  change(rule: RateRule): void {
    this.#rule = rule
    for (const allowance of this.all) allowance.change(rule)
  }

  /** The reservation for requests in this queue. Undefined: the queue has no key; null: there are too many keys at present. */
  of(queue: string): RateReservation | null | undefined {
    if (!this.isKeyed) return this.#allowances.get('')
    const at = queue.indexOf(KEYED)
    if (at < 0) return undefined
    const key = queue.slice(at)
    const known = this.#allowances.get(key)
    if (known) return known
    if (this.#allowances.size >= MOST_KEYS) return null
    const allowance = this.#make(this.name + key, this.#rule)
    allowance.hurry = this.#hurry
    this.#allowances.set(key, allowance)
    // A request waits for it.
    allowance.expect()
    return allowance
  }

  /** The reservation of a key, as it follows the name of the limit, if this node has one. */
  known(key: string): RateReservation | undefined {
    return this.#allowances.get(key)
  }

  get full(): boolean {
    return this.#allowances.size >= MOST_KEYS
  }

  /** Drops a reservation that is not in use. */
  drop({ name }: RateReservation): void {
    if (this.isKeyed) this.#allowances.delete(name.slice(this.name.length))
  }
}
