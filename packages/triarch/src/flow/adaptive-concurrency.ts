import type { Environment } from '../environment/environment.ts'
import type { Outcome } from '../kernel/message.ts'
import {
  type AdaptiveRule,
  accustomed,
  adapted,
  afterBusy,
  afterCalm,
  areMany,
  isLearnt,
  type Took,
  type Usual,
} from '../policy/adaptive.ts'
import { verdict } from './verdict.ts'

/** Answers of a window at least: fewer say little. */
const SMALLEST = 10
/** Answers of a window at most, however large the limit. */
const LARGEST = 200
/** What takes less is taken for this long (ms): below, clocks are too coarse to compare. */
const SHORTEST = 1
/** All processes measure anew at multiples of this (ms) of the store's time: one alone would measure the queue of the others. */
const EVERY = 60_000
/** What is left of the limit meanwhile. */
const CALM = 0.5
/** Answers by which it is measured. */
const MEASURED = 20
/** Measuring takes no more than one part in so many of the time: it costs what does not run meanwhile. */
const SELDOM = 20
/** So many kinds of attempts are told to others. */
const MOST_TOLD = 50

/** Fewer run than may, to see how long attempts take that do not wait in the service. */
interface Measurement {
  began: number
  /** Since when as few run as are to; null: those from before are not done. */
  since: number | null
  answers: number
  took: Map<string, Took>
}

/** How many attempts of one agent run at a time in this process, by how its service answers them. */
export class AdaptiveConcurrency {
  readonly #environment: Pick<Environment, 'monotonic' | 'now'>
  #rule: AdaptiveRule
  /** It begins with the least: what is usual is learnt where nothing waits. */
  #limit: number
  /** It doubles until the first sign of a bound (slow start; Jacobson 1988). */
  #starting = true
  /** Of each action, run, undone and verified: they take as long as they take. */
  readonly #usual = new Map<string, Usual>()
  readonly #took = new Map<string, Took>()
  #answers = 0
  #ill = 0
  #slowness = 0
  #busiest = 0
  #measurement: Measurement | null = null
  /** The last multiple of `EVERY` that was noticed, and when the next measurement may begin by the monotonic clock. */
  #round: number
  #notBefore = 0

  constructor(environment: Pick<Environment, 'monotonic' | 'now'>, rule: AdaptiveRule) {
    this.#environment = environment
    this.#rule = rule
    this.#limit = Math.min(rule.least, rule.most)
    this.#round = this.#roundNow
  }

  /** Attempts at a time. */
  get limit(): number {
    const limit = Math.floor(this.#limit)
    return this.#measurement ? Math.max(1, this.#rule.least, Math.floor(limit * CALM)) : limit
  }

  /** It keeps fewer running than are allowed, and knows why. */
  get holds(): boolean {
    return !this.#starting && Math.floor(this.#limit) < this.#rule.most
  }

  set rule(rule: AdaptiveRule) {
    this.#rule = rule
    this.#limit = Math.min(rule.most, Math.max(rule.least, this.#limit))
  }

  /** What it has learnt, for processes that begin (ms). */
  get usual(): Record<string, number> {
    const learnt = [...this.#usual].filter(([, usual]) => isLearnt(usual)).slice(0, MOST_TOLD)
    return Object.fromEntries(learnt.map(([key, { ms }]) => [key, Number(ms.toPrecision(3))]))
  }

  /** What others have learnt: where this process begins beside them, it would take their queue for usual. */
  know(usual: Readonly<Record<string, number>>): void {
    for (const [key, ms] of Object.entries(usual)) {
      const own = this.#usual.get(key)
      if (!own || !isLearnt(own) || own.ms > ms) this.#usual.set(key, { ms, count: SMALLEST })
    }
  }

  /** An attempt ended. `key`: what it is like; `running`: how many ran, with it. */
  ended(key: string, outcome: Outcome, ms: number, running: number): void {
    const ill = verdict(outcome)
    if (ill === null) return
    this.#busiest = Math.max(this.#busiest, running)
    const took = Math.max(SHORTEST, ms)
    if (ill) this.#ill++
    else if (outcome.kind === 'done') this.#slowness += this.#slownessOf(key, took)
    else return
    this.#measure(key, ill ? null : took, running)
    if (++this.#answers >= Math.min(LARGEST, Math.max(SMALLEST, this.#limit))) this.#conclude()
  }

  #slownessOf(key: string, ms: number): number {
    const usual = accustomed(this.#usual.get(key), ms)
    this.#usual.set(key, usual)
    add(this.#took, key, ms)
    return ms / usual.ms
  }

  #conclude(): void {
    const well = this.#answers - this.#ill
    const slowness = well > 0 ? this.#slowness / well : null
    const seen = { answers: this.#answers, ill: this.#ill, slowness, busiest: this.#busiest }
    const next = adapted(this.#limit, seen, this.#rule)
    if (next < this.#limit) this.#starting = false
    this.#limit = this.#starting && next > this.#limit ? Math.min(this.#rule.most, this.#limit * 2) : next
    for (const [key, took] of this.#took) {
      if (!areMany(took)) continue
      this.#learn(key, took, afterBusy)
      this.#took.delete(key)
    }
    this.#answers = 0
    this.#ill = 0
    this.#slowness = 0
    this.#busiest = 0
  }

  get #roundNow(): number {
    return Math.floor(this.#environment.now() / EVERY)
  }

  #measure(key: string, ms: number | null, running: number): void {
    const now = this.#environment.monotonic()
    const measurement = this.#measurement
    if (!measurement) {
      const round = this.#roundNow
      if (round === this.#round) return
      this.#round = round
      if (now < this.#notBefore) return
      this.#measurement = { began: now, since: null, answers: 0, took: new Map() }
      return
    }
    // One ends, the others run on.
    if (measurement.since === null) {
      if (running - 1 <= this.limit) measurement.since = now
      return
    }
    if (ms === null || now - ms < measurement.since) return
    add(measurement.took, key, ms)
    if (++measurement.answers < Math.max(MEASURED, Math.min(LARGEST, this.limit))) return
    this.#measurement = null
    this.#notBefore = now + (now - measurement.began) * SELDOM
    for (const [key, took] of measurement.took) this.#learn(key, took, afterCalm)
  }

  #learn(key: string, took: Took, by: (before: Usual, took: Took) => Usual): void {
    const usual = this.#usual.get(key)
    if (usual && isLearnt(usual)) this.#usual.set(key, by(usual, took))
  }
}

function add(to: Map<string, Took>, key: string, ms: number): void {
  const before = to.get(key)
  to.set(key, before ? { count: before.count + 1, ms: before.ms + ms } : { count: 1, ms })
}
