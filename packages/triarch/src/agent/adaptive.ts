import type { Environment } from '../environment/environment.ts'
import type { Outcome } from '../kernel/message.ts'
import { type AdaptiveRule, accustomed, adapted, type Usual } from '../policy/adaptive.ts'
import { verdict } from './verdict.ts'

/** Answers of a window at least: fewer say little. */
const SMALLEST = 10
/** Answers of a window at most, however large the limit. */
const LARGEST = 200
/** What takes less is taken for this long (ms): below, clocks are too coarse to compare. */
const SHORTEST = 1

/** How many attempts of one agent run at a time in this process, by how its service answers them. */
export class AdaptiveLimit {
  readonly #environment: Pick<Environment, 'monotonic'>
  #rule: AdaptiveRule
  /** It begins with the least: what is usual is learnt where nothing waits. */
  #limit: number
  /** It doubles until the first sign of a bound (slow start; Jacobson 1988). */
  #starting = true
  /** Of each action, run, undone and verified: they take as long as they take. */
  readonly #usual = new Map<string, Usual>()
  #answers = 0
  #ill = 0
  #slowness = 0
  #busiest = 0

  constructor(environment: Pick<Environment, 'monotonic'>, rule: AdaptiveRule) {
    this.#environment = environment
    this.#rule = rule
    this.#limit = Math.min(rule.least, rule.most)
  }

  /** Attempts at a time. */
  get limit(): number {
    return Math.floor(this.#limit)
  }

  /** It keeps fewer running than are allowed, and knows why. */
  get holds(): boolean {
    return !this.#starting && this.limit < this.#rule.most
  }

  set rule(rule: AdaptiveRule) {
    this.#rule = rule
    this.#limit = Math.min(rule.most, Math.max(rule.least, this.#limit))
  }

  /** An attempt ended. `key`: what it is like; `running`: how many ran, with it. */
  ended(key: string, outcome: Outcome, ms: number, running: number): void {
    const ill = verdict(outcome)
    if (ill === null) return
    this.#busiest = Math.max(this.#busiest, running)
    if (ill) this.#ill++
    else if (outcome.kind === 'done') this.#slowness += this.#slownessOf(key, Math.max(SHORTEST, ms))
    else return
    if (++this.#answers >= Math.min(LARGEST, Math.max(SMALLEST, this.#limit))) this.#conclude()
  }

  #slownessOf(key: string, ms: number): number {
    const usual = accustomed(this.#usual.get(key), ms, this.#environment.monotonic())
    this.#usual.set(key, usual)
    return ms / usual.ms
  }

  #conclude(): void {
    const well = this.#answers - this.#ill
    const slowness = well > 0 ? this.#slowness / well : null
    const seen = { answers: this.#answers, ill: this.#ill, slowness, busiest: this.#busiest }
    const next = adapted(this.#limit, seen, this.#rule)
    if (next < this.#limit) this.#starting = false
    this.#limit = this.#starting && next > this.#limit ? Math.min(this.#rule.most, this.#limit * 2) : next
    this.#answers = 0
    this.#ill = 0
    this.#slowness = 0
    this.#busiest = 0
  }
}
