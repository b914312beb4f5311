import type { Environment } from '../environment/environment.ts'
import {
  isOpen,
  isVoid,
  LONGEST_REST,
  NEW_RATE,
  type RateHand,
  type RateRule,
  type RateState,
  reservableAt,
  restarted,
  rested,
  ruleNow,
  tolerance,
} from '../policy/rate.ts'

/** What one node has of a rate limit: instants that are its own, each for one attempt. */
export class Allowance {
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
  readonly #environment: Pick<Environment, 'now'>
  readonly #lag: () => number
  /** Oldest first. */
  #free: number[] = []
  /** Meant for attempts that start once their turn is recorded. Whichever begins first takes the oldest. */
  #promised: number[] = []
  /** Asked for since the last reservation. */
  #asked = 0
  /** Asked for before that. */
  #wasAsked = 0
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
    environment: Pick<Environment, 'now'>,
    lag: () => number,
  ) {
    this.name = name
    this.agent = agent
    this.rule = rule
    this.#own = rule
    this.#environment = environment
    this.#lag = lag
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
    this.#changes++
    this.hurry()
  }

  /** How many attempts may begin now. */
  get room(): number {
    const { now, lag } = this.#tidy()
    if (now < this.#restsUntil) return 0
    const later = this.#free.findIndex((instant) => !isOpen(instant, this.rule, now, lag))
    return later < 0 ? this.#free.length : later
  }

  /** One for an attempt that starts soon. False: there is none, or others are before it. */
  promise(): boolean {
    if (this.waiting > 0 || this.room === 0) return false
    this.#promised.push(this.#free.shift() as number)
    this.#asked++
    return true
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
    return this.#environment.now() >= this.#restsUntil && this.#promised.length > 0
  }

  /** One attempt begins. */
  use(): void {
    if (this.#promised.shift() !== undefined) return
    this.#free.shift()
    this.#asked++
  }

  /** The service wants to be left alone for so long (ms): all of the agent's attempts, on all nodes. */
  rest(ms: number): void {
    const until = this.#environment.now() + Math.min(LONGEST_REST, Math.ceil(ms))
    if (until <= this.#restsUntil) return
    this.rests = until
    this.#forget(until)
    this.hurry()
  }

  /** So many wait in the queue. */
  counted(waiting: number): void {
    this.waiting = Math.max(waiting, this.#expected)
    this.#expected = 0
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

  /** How many more it could use. `most`: attempts that could begin here. */
  wants(most: number): number {
    this.#tidy()
    const soon = Math.max(this.waiting, this.#asked)
    return Math.min(most, soon) - this.#free.length
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
    const { now, lag } = this.#tidy()
    const busy =
      this.waiting > 0 ||
      this.#free.length + this.#promised.length > 0 ||
      this.#restsUntil > now ||
      this.hand !== undefined
    return busy ? 0 : Math.max(0, now - lag - tolerance(this.rule) - this.state.next)
  }

  /** These are its own from now on. */
  reserved(instants: readonly number[]): void {
    this.#free.push(...instants)
  }

  /** A look is over: from now on is counted what is asked for until the next. */
  looked(): void {
    this.#wasAsked = this.#asked
    this.#asked = 0
  }

  /** Nobody uses it, and nothing waits for it. */
  get quiet(): boolean {
    return this.waiting + this.#asked + this.#wasAsked + this.rests === 0
  }

  /** When one more attempt may begin, or it is worth asking (ms from now); infinite: nobody waits. */
  get due(): number {
    if (this.waiting === 0) return Number.POSITIVE_INFINITY
    const now = this.#environment.now()
    const later = this.#free.find((instant) => instant > now)
    return Math.ceil(Math.max(later ?? reservableAt(this.state), this.#restsUntil) - now)
  }

  get #restsUntil(): number {
    return Math.max(this.rests, this.state.rests)
  }

  #forget(before: number): void {
    const kept = (instant: number) => instant >= before
    this.#free = this.#free.filter(kept)
    this.#promised = this.#promised.filter(kept)
  }

  #tidy(): { now: number; lag: number } {
    const now = this.#environment.now()
    const lag = this.#lag()
    const kept = (instant: number) => !isVoid(instant, this.rule, now, lag)
    if (!this.#free.every(kept)) this.#free = this.#free.filter(kept)
    if (!this.#promised.every(kept)) this.#promised = this.#promised.filter(kept)
    return { now, lag }
  }
}
