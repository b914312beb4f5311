/**
 * A rate limit over all nodes as a pure value: the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling), reversed. There,
 * an arrival is compared with the instant at which it was expected. Here, nodes reserve these instants in advance, several at a time, and
 * each instant lets one attempt begin, at the instant or a bounded time later. All nodes share one number, the first instant that is not
 * reserved, and the few spans before it that were left out. An instant that is not used in time is void, so that unused instants neither
 * return after a crash nor add up in a pause. There is no clock, I/O or randomness here.
 *
 * Proof of the limit: each attempt that begins in a span of `per` has an instant of its own that lies in the span or at most `tolerance`
 * before it. Instants are `gap` apart, so there are at most `limit + burst` of them.
 */

/** The parameters of a rate limit. */
export interface RateRule {
  readonly limit: number
  /** ms. */
  readonly per: number
  readonly burst: number
}

/** The state of a rate limit that all nodes share. */
export interface RateState {
  /** The first instant that is not reserved (ms of the store's clock; not always an integer). */
  readonly next: number
  /** End of the cooldown that the service asked for; nothing begins before. */
  readonly rests: number
  /** Absent: no instants were left out. */
  readonly spare?: Spare
}

/** Instants before `RateState.next` that are not reserved. */
export interface Spare {
  /**
   * The `next` with which these spans were stored. If `next` was moved without them (for another rule, or by another clock), they are void.
   */
  readonly next: number
  /** Oldest first: the first instant of each span, and its end (exclusive). */
  readonly spans: readonly TimeSpan[]
}

/** Consecutive instants. */
export interface InstantRun {
  readonly first: number
  /** Distance between two of them (ms). */
  readonly every: number
  readonly count: number
}

/** How many instants a node requests. */
export interface Wants {
  /** Instants for attempts that wait. */
  readonly needs: number
  /** Instants for attempts that may arrive soon; given only as far as they would otherwise stay unused. */
  readonly likes: number
  /** Instants for attempts that may arrive later. */
  readonly ahead?: Ahead
}

/** Instants for later: `likes` of them in each span of `each` ms, beginning with the first span after `after`. */
export interface Ahead {
  readonly likes: number
  readonly each: number
  readonly after: number
}

type TimeSpan = readonly [first: number, end: number]

/**
 * How far ahead nodes reserve (ms). It bounds what is lost with a node that dies, and how long other nodes continue before they notice a
 * cooldown.
 */
const AHEAD = 500

/** Time in which a reservation is written and its attempt begins (ms); a durable write takes far longer than reading the clock. */
const WRITTEN = 25

/**
 * Past instants are taken in order if they stay valid for this time (ms), or for three quarters of the longest validity; otherwise the
 * newest are taken.
 */
const LASTS = 2_000

/** A node gets this share of instants that would otherwise stay unused, because other nodes may need them. */
const SHARE = 1 / 4

/** From this number of spans on, nothing more is reserved for later. */
const MOST_SPANS = 24

/** Precision of instants (ms): floating point numbers of their size hold no more. */
const GRAIN = 0.0005

/** Longest cooldown that a service may ask for (ms). */
export const LONGEST_REST = 3_600_000

export const NEW_RATE: RateState = { next: 0, rests: 0 }

/** A rule that an operator set in place of the agent's own. */
export interface RateHand {
  /** Null: there is no limit. */
  readonly rule: RateRule | null
  /** When the override ends; null: when an operator ends it. */
  readonly until: number | null
}

/** One change by an operator. */
export interface RateMove {
  readonly at: number
  readonly did: 'changed' | 'lifted' | 'restored'
  readonly by: string
  readonly reason: string
}

/** Number of changes that are kept. */
export const MOST_MOVES = 20

/** A rule that amounts to no limit. */
const LIFTED: RateRule = { limit: 1_000_000, per: 1_000, burst: 1_000_000 }

/** The rule in effect now. */
export function ruleNow(own: RateRule, hand: RateHand | undefined, now: number): RateRule {
  if (!hand || (hand.until !== null && hand.until <= now)) return own
  return hand.rule ?? LIFTED
}

/** Distance between two instants (ms). */
export function gap({ limit, per }: RateRule): number {
  return per / limit
}

/** How long after its instant an attempt may begin (ms). */
export function tolerance(rule: RateRule): number {
  return rule.burst * gap(rule)
}

/** The first instant that is not reserved (ms of the store's clock). */
export function freeAt({ next, rests, spare }: RateState): number {
  const first = spare?.next === next ? spare.spans[0]?.[0] : undefined
  return Math.max(first ?? next, rests)
}

/** When the first instant could be reserved (ms of the store's clock). */
export function reservableAt(state: RateState): number {
  return freeAt(state) - AHEAD
}

/** Adapts the state to a changed rule: instants reserved under the old rule reach no further ahead than they could under the new one. */
export function restarted(state: RateState, rule: RateRule, now: number, lag: number): RateState {
  const next = now + lag + AHEAD + gap(rule)
  return next < state.next ? { next, rests: state.rests } : state
}

/**
 * Reserves instants. `lag`: how far the store's clock may be ahead of `now` (ms). If there are more past instants than wanted, those that
 * stay valid for a while are taken, because a node that got the oldest would have to ask again and again. Older ones are left for a burst.
 */
export function reserve(
  state: RateState,
  rule: RateRule,
  now: number,
  { needs, likes, ahead }: Wants,
  lag: number,
): { state: RateState; runs: readonly InstantRun[] } {
  const every = gap(rule)
  const lasts = tolerance(rule)
  // An instant must not be void before its attempt can begin, which needs the write of this reservation first.
  const used = Math.max(every, 2 * lag, Math.min(WRITTEN, lasts / 4))
  const oldest = Math.max(now - Math.max(0, lasts - used), Math.min(state.rests, now + lag + LONGEST_REST))
  // No instant of this rule can be later, unless the store's clock was set back or the limit was lower before.
  const next = Math.min(state.next, now + lag + AHEAD + every)
  const free = new Free(next < state.next ? [] : left(state, oldest, every), Math.max(next, oldest), now, every)
  const back = free.back
  const newest = Math.max(needs, Math.min(likes, Math.floor(back * SHARE)))
  free.take(newest, now - lasts + Math.min(LASTS, (3 / 4) * lasts))
  free.takeAhead(needs - Math.max(0, Math.min(newest, back)))
  if (ahead) for (let at = ahead.after + ahead.each; at <= now + AHEAD; at += ahead.each) free.takeAt(at, ahead)
  // The corrected `next` is stored even if nothing was reserved; if it were computed from each `now` again, it would never be reached.
  if (free.runs.length === 0) return { state: next < state.next ? { next, rests: state.rests } : state, runs: [] }
  return { state: { rests: state.rests, ...free.rest }, runs: free.runs.toSorted((a, b) => a.first - b.first) }
}

/** The instants that are not reserved, from which runs are taken. */
class Free {
  readonly runs: InstantRun[] = []
  /** The last span contains all later instants, as far ahead as may be reserved. */
  readonly #spans: TimeSpan[]
  /** Instants before this one are past. */
  readonly #now: number
  readonly #every: number

  constructor(left: readonly TimeSpan[], head: number, now: number, every: number) {
    this.#spans = [...left, [head, now + AHEAD + every]]
    this.#now = now + every
    this.#every = every
  }

  /** Number of instants that could be used at once. */
  get back(): number {
    return this.#spans.reduce((sum, [first, end]) => sum + this.#fit(first, Math.min(end, this.#now)), 0)
  }

  /** Takes the newest past instants; from a span that begins before `good`, its newest ones, otherwise its first ones. */
  take(wants: number, good: number): void {
    let open = wants
    for (let at = this.#spans.length - 1; at >= 0 && open > 0; at--) {
      const [first, end] = this.#spans[at] as TimeSpan
      const fits = this.#fit(first, Math.min(end, this.#now))
      const count = Math.min(open, fits)
      this.#cut(at, first < good ? fits - count : 0, count)
      open -= count
    }
  }

  /** Takes the first instants ahead, after past ones are used up. */
  takeAhead(wants: number): void {
    let open = wants
    for (let at = 0; at < this.#spans.length && open > 0; ) {
      const [first, end] = this.#spans[at] as TimeSpan
      const spans = this.#spans.length
      const count = Math.min(open, this.#fit(first, end))
      this.#cut(at, 0, count)
      open -= count
      if (this.#spans.length === spans) at++
    }
  }

  /** Takes a share of the instants from this time on. */
  takeAt(time: number, { likes, each }: Ahead): void {
    if (this.#spans.length > MOST_SPANS) return
    const at = this.#spans.findIndex(([, end]) => this.#fit(time, end) > 0)
    if (at < 0) return
    const [first, end] = this.#spans[at] as TimeSpan
    const skip = Math.max(0, Math.ceil((time - first) / this.#every))
    const fits = this.#fit(first + skip * this.#every, Math.min(end, time + each))
    this.#cut(at, skip, Math.min(likes, Math.floor(fits * SHARE)))
  }

  /** The remaining instants, as they are stored. */
  get rest(): Pick<RateState, 'next' | 'spare'> {
    const spans = this.#spans.slice(0, -1)
    const [next] = this.#spans.at(-1) as TimeSpan
    return { next, ...(spans.length > 0 && { spare: { next, spans: spans.slice(-2 * MOST_SPANS) } }) }
  }

  /** Takes `count` instants of a span, after skipping `skip`. */
  #cut(at: number, skip: number, count: number): void {
    if (!(count > 0)) return
    const [first, end] = this.#spans[at] as TimeSpan
    const from = first + skip * this.#every
    const then = from + count * this.#every
    const before: TimeSpan[] = skip > 0 ? [[first, from]] : []
    const after: TimeSpan[] = at === this.#spans.length - 1 || this.#fit(then, end) > 0 ? [[then, end]] : []
    this.#spans.splice(at, 1, ...before, ...after)
    this.runs.push({ first: from, every: this.#every, count })
  }

  #fit(first: number, end: number): number {
    return fit(first, end, this.#every)
  }
}

/** The number of instants from `first` on, such that the next one after them lies at the end or before it. */
function fit(first: number, end: number, every: number): number {
  return Math.max(0, Math.floor((end - first + grain(every)) / every))
}

/** By how much an instant may be imprecise (ms). */
function grain(every: number): number {
  return Math.min(GRAIN, every / 2)
}

/** Spans that were left out and are not void. */
function left({ next, spare }: RateState, oldest: number, every: number): TimeSpan[] {
  if (spare?.next !== next) return []
  return spare.spans.flatMap(([first, end]) => {
    const from = first + Math.max(0, Math.ceil((oldest - first) / every)) * every
    return fit(from, end, every) > 0 ? [[from, end] as const] : []
  })
}

/** The range of a node's usable instants: later than `after`, up to `until`. */
export function living(rule: RateRule, now: number, lag: number): { after: number; until: number } {
  // No instant is reserved further ahead, so a later one means that the clock was set back. New reservations are at least one gap later.
  return { after: now + lag - tolerance(rule), until: now + AHEAD + grain(gap(rule)) }
}

/** Whether an attempt may begin now by this instant. Never on a node that does not know the time precisely enough. */
export function hasBegun(instant: number, rule: RateRule, now: number, lag: number): boolean {
  return instant <= now && !isVoid(instant, rule, now, lag)
}

/** Whether the instant was not used in time, or the clock was set back. */
export function isVoid(instant: number, rule: RateRule, now: number, lag: number): boolean {
  const { after, until } = living(rule, now, lag)
  return !(instant > after && instant <= until)
}

/** Starts a cooldown that the service asked for, until the given instant. */
export function rested(state: RateState, until: number): RateState {
  return until <= state.rests ? state : { ...state, rests: until }
}
