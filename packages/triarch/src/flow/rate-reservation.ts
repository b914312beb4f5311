import type { Environment } from '../environment/environment.ts'
import {
  freeAt,
  type InstantRun,
  LONGEST_REST,
  living,
  NEW_RATE,
  type RateHand,
  type RateRule,
  type RateState,
  reservableAt,
  restarted,
  rested,
  ruleNow,
  tolerance,
  type Wants,
} from '../policy/rate.ts'
import { ReservedInstants } from './reserved-instants.ts'

/** Instants reserved per instant that is used until the next reading, because the load may grow. */
const RESERVE_FACTOR = 4
/** A node with instants further ahead than this reserves no more ahead. */
const MAX_AHEAD_MS = 250
/** A node asks before the next reading when it has less than this share of what it wanted last. */
const LOW_SHARE = 1 / 2
/** The measured rate of use is multiplied by this from reading to reading while nothing is used. */
const DECAY = 3 / 4
/** Nothing is reserved ahead for fewer attempts a reading than this: waiting in the queue costs less. */
const MIN_ATTEMPTS_PER_READING = 1 / 2

/** The instants of one rate limit that this node has reserved; each lets one attempt begin. */
export class RateReservation {
  /** `agent`, or `agent.action`; with `#key` where each has one of its own. */
  readonly name: string
  readonly agent: string
  /** The rule that holds now. */
  rule: RateRule
  /** What operators set by hand, as read last. */
  hand: RateHand | undefined
  /** The rule of the code, or of a setting. */
  #own: RateRule
  /** The version of the row as read last; 0: there is no row. */
  version = 0
  state: RateState = NEW_RATE
  /** Attempts that wait in the agent's queues, as far as this node knows. */
  waiting = 0
  /** The end of a cooldown that the service asked for and that is not written yet (store's clock, ms). */
  rests = 0
  readonly #environment: Pick<Environment, 'now' | 'monotonic'>
  readonly #lag: () => number
  readonly #free = new ReservedInstants()
  /** Promised to attempts that start once their transition is recorded. The attempt that begins first takes the oldest. */
  readonly #promised = new ReservedInstants()
  /** Instants used since the last reading. */
  #asked = 0
  /** Instants used between the two readings before. */
  #wasAsked = 0
  #lookedAt: number
  /** When void instants were removed last; NaN: not by the present rule. */
  #tidiedAt = Number.NaN
  /** Instants used per millisecond, lately. */
  #speed = 0
  /** With fewer usable instants than this it asks again. */
  #low = 0
  /** Attempts announced since the last reading that may not be in the queue yet. */
  #expected = 0
  /** How often the rule changed, and how many of these changes are written. */
  #changes = 0
  #written = 0
  /** Called when the store should be written soon. */
  hurry: () => void = () => undefined

  constructor(
    { name, agent }: { name: string; agent: string },
    rule: RateRule,
    environment: Pick<Environment, 'now' | 'monotonic'>,
    lag: () => number,
  ) {
    this.name = name
    this.agent = agent
    this.rule = rule
    this.#own = rule
    this.#environment = environment
    this.#lag = lag
    this.#lookedAt = environment.monotonic()
  }

  /** Changes the rule. The store is asked anew, because an instant that was ahead by the old rule may be usable by the new one. */
  change(rule: RateRule): void {
    this.#own = rule
    this.#apply()
  }

  get own(): RateRule {
    return this.#own
  }

  #apply(): void {
    const rule = ruleNow(this.#own, this.hand, this.#environment.now())
    if (rule.limit === this.rule.limit && rule.per === this.rule.per && rule.burst === this.rule.burst) return
    this.rule = rule
    this.#tidiedAt = Number.NaN
    this.#changes++
    this.hurry()
  }

  /** How many attempts may begin now. */
  get room(): number {
    const now = this.#tidy()
    return now < this.#restsUntil ? 0 : this.#free.upTo(now)
  }

  /** The end of the last instant that it has; minus infinity: it has none (ms of the store's clock, exclusive). */
  get until(): number {
    this.#tidy()
    const last = this.#free.last
    return last === undefined ? Number.NEGATIVE_INFINITY : last + tolerance(this.rule) - this.#lag()
  }

  /** The first instant that could be reserved now (ms of the store's clock). */
  get next(): number {
    return Math.max(this.#environment.now(), freeAt(this.said))
  }

  /** Whether there is one for another attempt besides what waits in the queues. */
  get ample(): boolean {
    return this.room > this.waiting
  }

  /** One for an attempt that starts soon. False: there is none, or others are before it. */
  promise(): boolean {
    const taken = this.ample ? this.#free.take() : null
    if (!taken) return false
    this.#promised.put(taken.instant, taken.every)
    this.#count()
    return true
  }

  /** One more is used; the next look may be too late for those that follow. */
  #count(): void {
    this.#asked++
    if (this.#free.upTo(this.#environment.now()) >= this.#low) return
    this.#low = 0
    this.hurry()
  }

  /** An attempt will wait in the queue. */
  expect(): void {
    this.waiting++
    this.#expected++
    this.hurry()
  }

  /** Whether an attempt may begin now. */
  get open(): boolean {
    if (this.room > 0) return true
    return this.#environment.now() >= this.#restsUntil && this.#promised.count > 0
  }

  /** One attempt begins. */
  use(): void {
    if (this.#promised.take()) return
    this.#free.take()
    this.#count()
  }

  /** The service wants to be left alone for so long (ms): all of the agent's attempts, on all nodes. */
  rest(ms: number): void {
    const until = this.#environment.now() + Math.min(LONGEST_REST, Math.ceil(ms))
    if (until <= this.#restsUntil) return
    this.rests = until
    this.#forget(until)
    this.hurry()
  }

  /** The store was read: so many wait in the queue. From now on is counted what is asked for until the next time. */
  counted(waiting: number): void {
    this.waiting = Math.max(waiting, this.#expected)
    this.#expected = 0
    const at = this.#environment.monotonic()
    this.#speed = Math.max(this.#asked / Math.max(1, at - this.#lookedAt), DECAY * this.#speed)
    this.#lookedAt = at
    this.#wasAsked = this.#asked
    this.#asked = 0
  }

  /** How the store has it now. */
  take(version: number, state: RateState, hand?: RateHand): void {
    this.version = version
    this.state = state
    this.hand = hand
    this.#apply()
    if (this.rests <= state.rests) this.rests = 0
    this.#forget(state.rests)
  }

  /** How many more it could use. `most`: attempts that could begin here; `until`: the next look (ms). */
  wants(most: number, until: number): Wants {
    const now = this.#tidy()
    const needs = Math.min(most, Math.max(this.waiting, this.#wasAsked)) - this.#free.count
    if (this.#speed * until < MIN_ATTEMPTS_PER_READING) this.#speed = 0
    const likes = Math.ceil(RESERVE_FACTOR * this.#speed * until)
    this.#low = LOW_SHARE * likes
    const open = this.#free.upTo(now)
    const more = open < this.#low ? likes + this.waiting - open : 0
    const each = tolerance(this.rule) / 2
    const last = Math.max(now, this.#free.last ?? now)
    // What can be used for long need not be had for later.
    if (likes === 0 || each > MAX_AHEAD_MS || last > now + MAX_AHEAD_MS) return { needs, likes: more }
    return { needs, likes: more, ahead: { likes: Math.ceil(RESERVE_FACTOR * this.#speed * each), each, after: last } }
  }

  /** How long what it would have now is good for, as far as it needs any (ms). */
  get lasts(): number {
    return this.#asked + this.#speed > 0 ? tolerance(this.rule) / 2 : Number.POSITIVE_INFINITY
  }

  /** How often its rule came to be another. */
  get changes(): number {
    return this.#changes
  }

  /** What is to be written before anything is reserved. */
  get said(): RateState {
    const said = rested(this.state, this.rests)
    return this.#changes > this.#written ? restarted(said, this.rule, this.#environment.now(), this.#lag()) : said
  }

  /** The store knows its rule as it was after so many changes. */
  settled(changes: number): void {
    this.#written = changes
  }

  /** Nothing waits for it here and nothing is reserved: for so long nobody has used it (ms). */
  get idle(): number {
    const now = this.#tidy()
    const some = this.#free.count + this.#promised.count > 0
    const busy = this.waiting > 0 || some || this.#restsUntil > now || this.hand !== undefined
    return busy ? 0 : Math.max(0, now - this.#lag() - tolerance(this.rule) - this.state.next)
  }

  /** These are its own from now on. */
  reserved(runs: readonly InstantRun[]): void {
    this.#free.add(runs)
    this.#tidiedAt = Number.NaN
  }

  /** Nobody uses it, and nothing waits for it. */
  get quiet(): boolean {
    return this.waiting + this.#asked + this.#wasAsked + this.#speed + this.rests === 0
  }

  /** When one more attempt may begin, or it is worth asking (ms from now); infinite: nobody waits. */
  get due(): number {
    if (this.waiting === 0) return Number.POSITIVE_INFINITY
    const now = this.#environment.now()
    const later = this.#free.after(now)
    return Math.ceil(Math.max(later ?? reservableAt(this.state), this.#restsUntil) - now)
  }

  get #restsUntil(): number {
    return Math.max(this.rests, this.state.rests)
  }

  #forget(before: number): void {
    // None lies between: instants have no such fractions.
    const kept = { after: before - Number.EPSILON * before, until: Number.POSITIVE_INFINITY }
    this.#free.keep(kept)
    this.#promised.keep(kept)
  }

  #tidy(): number {
    const now = this.#environment.now()
    // Many begin in one millisecond.
    if (now === this.#tidiedAt) return now
    this.#tidiedAt = now
    const kept = living(this.rule, now, this.#lag())
    this.#free.keep(kept)
    this.#promised.keep(kept)
    return now
  }
}
