import type { Environment } from '../environment/environment.ts'
import {
  freeAt,
  LONGEST_REST,
  living,
  NEW_RATE,
  type RateHand,
  type RateRule,
  type RateState,
  type Run,
  reservableAt,
  restarted,
  rested,
  ruleNow,
  tolerance,
  type Wants,
} from '../policy/rate.ts'
import { ReservedInstants } from './reserved-instants.ts'

/** Of what is used up until the next look, so much more is asked for: what comes may grow. */
const MORE = 4
/** Who has some for later than that (ms) asks for no more of them. */
const LATER = 250
/** Who has less than this share of what was wanted last asks before the next look. */
const LOW = 1 / 2
/** What a node used goes down so from look to look, when it uses nothing: it may go on. */
const CALM = 3 / 4
/** Nothing is reserved for what comes more seldom than so often from look to look: its turn by the queue costs less. */
const SELDOM = 1 / 2

/** What one node has of a rate limit: instants that are its own, each for one attempt. */
export class RateReservation {
  /** `agent`, or `agent.action`; with `#key` where each has one of its own. */
  readonly name: string
  readonly agent: string
  /** The one that counts now. */
  rule: RateRule
  /** What operators say, as it was read last. */
  hand: RateHand | undefined
  /** That of the code, or of a setting. */
  #own: RateRule
  /** As it was read last; 0: there is no row. */
  version = 0
  state: RateState = NEW_RATE
  /** Attempts that wait in the agent's queues, as far as is known. */
  waiting = 0
  /** The service asked for a rest that is not written yet: until then. */
  rests = 0
  readonly #environment: Pick<Environment, 'now' | 'monotonic'>
  readonly #lag: () => number
  readonly #free = new ReservedInstants()
  /** Meant for attempts that start once their turn is recorded. Whichever begins first takes the oldest. */
  readonly #promised = new ReservedInstants()
  /** Asked for since the last look. */
  #asked = 0
  /** Asked for before that. */
  #wasAsked = 0
  #lookedAt: number
  /** What is void by then is gone; NaN: not by this rule. */
  #tidiedAt = Number.NaN
  /** How many it has used in a millisecond, of late. */
  #speed = 0
  /** With less than so many it asks again. */
  #low = 0
  /** Those that will be in the queue, though they may not be yet: since the last look. */
  #expected = 0
  /** How often its rule came to be another, and as of which time that is written. */
  #changes = 0
  #written = 0
  /** Told when the store should hear of something soon. */
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

  /** From now on it is this one: the store is asked anew, for what was due by the one before may be due by now. */
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
    this.#speed = Math.max(this.#asked / Math.max(1, at - this.#lookedAt), CALM * this.#speed)
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
    if (this.#speed * until < SELDOM) this.#speed = 0
    const likes = Math.ceil(MORE * this.#speed * until)
    this.#low = LOW * likes
    const open = this.#free.upTo(now)
    const more = open < this.#low ? likes + this.waiting - open : 0
    const each = tolerance(this.rule) / 2
    const last = Math.max(now, this.#free.last ?? now)
    // What can be used for long need not be had for later.
    if (likes === 0 || each > LATER || last > now + LATER) return { needs, likes: more }
    return { needs, likes: more, ahead: { likes: Math.ceil(MORE * this.#speed * each), each, after: last } }
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
  reserved(runs: readonly Run[]): void {
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
