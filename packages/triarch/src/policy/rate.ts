/**
 * A rate limit over all nodes as a value: the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling), turned round. There an
 * arrival is held against the instant at which it was expected; here nodes reserve those instants beforehand, in portions, and each lets one
 * attempt begin, at its instant or a bounded time later. What all nodes share is one number: the first instant that nobody has; and the few
 * spans before it that were left out. An instant that is not used in time is void, so nothing comes back after a crash, and nothing adds up
 * in a pause. No clock, no I/O, no chance.
 *
 * Why it holds: of attempts that begin in a span of `per`, each has an instant of its own that lies in the span or at most `tolerance`
 * before it. Instants are `gap` apart: there are at most `limit + burst` of them.
 */

/** The numbers of a rate limit. */
export interface RateRule {
  readonly limit: number
  /** ms. */
  readonly per: number
  readonly burst: number
}

/** What all nodes know of it. */
export interface RateState {
  /** The first instant that nobody has reserved (ms of the store's clock; not always whole). */
  readonly next: number
  /** The service asked for a rest: nothing begins before. */
  readonly rests: number
  /** Absent: nothing was left out. */
  readonly spare?: Spare
}

/** What lies before the first instant that nobody has, and nobody has either. */
export interface Spare {
  /** It counts beside this one alone: whoever moves that otherwise (for another rule, or by another clock) does not know of it. */
  readonly next: number
  /** Oldest first: the first instant of each, and the one at which it is over. */
  readonly spans: readonly Span[]
}

/** Instants that follow upon each other. */
export interface Run {
  readonly first: number
  /** Between two of them (ms). */
  readonly every: number
  readonly count: number
}

/** How many instants a node asks for. */
export interface Wants {
  /** For what waits. */
  readonly needs: number
  /** For what may come now; as far as they would go by unused. */
  readonly likes: number
  /** And for what may come later. */
  readonly ahead?: Ahead
}

/** Of what may come later, so many each time, so far apart (ms), from the first time on that is later than `after`. */
export interface Ahead {
  readonly likes: number
  readonly each: number
  readonly after: number
}

type Span = readonly [first: number, end: number]

/** So far ahead nodes reserve (ms): what one that dies takes with it, and how long others go on before they hear of a rest. */
const AHEAD = 500

/** What is reserved is written, and its attempt begins, in this time (ms): a disk that is asked to be sure takes far longer than an answer of the clock. */
const WRITTEN = 25

/** What lies back is taken as it is found if it lasts so long (ms), or for three quarters of what any does; else the newest is. */
const LASTS = 2_000

/** Of what would go by unused nodes have this share: others may need it. */
const SHARE = 1 / 4

/** Where so many spans are left out, nothing more is reserved for later. */
const MOST_SPANS = 24

/** Instants are no more exact than that (ms): what numbers of their size can hold. */
const GRAIN = 0.0005

/** Longest rest that a service may ask for (ms). */
export const LONGEST_REST = 3_600_000

export const NEW_RATE: RateState = { next: 0, rests: 0 }

/** What counts instead of a rule, by an operator's word. */
export interface RateHand {
  /** Null: there is no limit. */
  readonly rule: RateRule | null
  /** Then it is over; null: once somebody says so. */
  readonly until: number | null
}

/** One word of an operator. */
export interface RateMove {
  readonly at: number
  readonly did: 'changed' | 'lifted' | 'restored'
  readonly by: string
  readonly reason: string
}

/** So many of them are kept. */
export const MOST_MOVES = 20

/** As good as no limit. */
const LIFTED: RateRule = { limit: 1_000_000, per: 1_000, burst: 1_000_000 }

/** The rule that counts now. */
export function ruleNow(own: RateRule, hand: RateHand | undefined, now: number): RateRule {
  if (!hand || (hand.until !== null && hand.until <= now)) return own
  return hand.rule ?? LIFTED
}

/** Between two instants (ms). */
export function gap({ limit, per }: RateRule): number {
  return per / limit
}

/** How long after its instant an attempt may begin (ms). */
export function tolerance(rule: RateRule): number {
  return rule.burst * gap(rule)
}

/** The first instant that nobody has (ms of the store's clock). */
export function freeAt({ next, rests, spare }: RateState): number {
  const first = spare?.next === next ? spare.spans[0]?.[0] : undefined
  return Math.max(first ?? next, rests)
}

/** When the first instant could be reserved (ms of the store's clock). */
export function reservableAt(state: RateState): number {
  return freeAt(state) - AHEAD
}

/** For a rule that was another: what the one before had reserved reaches no further ahead than this one could. */
export function restarted(state: RateState, rule: RateRule, now: number, lag: number): RateState {
  const next = now + lag + AHEAD + gap(rule)
  return next < state.next ? { next, rests: state.rests } : state
}

/**
 * Instants that nobody has. `lag`: how far the store's clock may be ahead of `now` (ms). Where more lie back than are wanted, those that last:
 * a node that had the oldest would have to ask again and again. What is older is left out, for a burst that comes.
 */
export function reserve(
  state: RateState,
  rule: RateRule,
  now: number,
  { needs, likes, ahead }: Wants,
  lag: number,
): { state: RateState; runs: readonly Run[] } {
  const every = gap(rule)
  const lasts = tolerance(rule)
  // Not so old that it is void before it can be used: once this is written and its attempt begins.
  const used = Math.max(every, 2 * lag, Math.min(WRITTEN, lasts / 4))
  const oldest = Math.max(now - Math.max(0, lasts - used), Math.min(state.rests, now + lag + LONGEST_REST))
  // None of this rule can be later: the store's clock was put back, or the limit was lower before.
  const next = Math.min(state.next, now + lag + AHEAD + every)
  const free = new Free(next < state.next ? [] : left(state, oldest, every), Math.max(next, oldest), now, every)
  const back = free.back
  const newest = Math.max(needs, Math.min(likes, Math.floor(back * SHARE)))
  free.take(newest, now - lasts + Math.min(LASTS, (3 / 4) * lasts))
  free.takeAhead(needs - Math.max(0, Math.min(newest, back)))
  if (ahead) for (let at = ahead.after + ahead.each; at <= now + AHEAD; at += ahead.each) free.takeAt(at, ahead)
  // Kept where it was put back: measured from each now anew it would never come.
  if (free.runs.length === 0) return { state: next < state.next ? { next, rests: state.rests } : state, runs: [] }
  return { state: { rests: state.rests, ...free.rest }, runs: free.runs.toSorted((a, b) => a.first - b.first) }
}

/** What nobody has, of which is taken. */
class Free {
  readonly runs: Run[] = []
  /** The last is what follows all that was ever reserved, as far ahead as may be reserved. */
  readonly #spans: Span[]
  /** What is before it lies back. */
  readonly #now: number
  readonly #every: number

  constructor(left: readonly Span[], head: number, now: number, every: number) {
    this.#spans = [...left, [head, now + AHEAD + every]]
    this.#now = now + every
    this.#every = every
  }

  /** How many could be used at once. */
  get back(): number {
    return this.#spans.reduce((sum, [first, end]) => sum + this.#fit(first, Math.min(end, this.#now)), 0)
  }

  /** The newest of what lies back; of a span whose first are no older than `good`, those. */
  take(wants: number, good: number): void {
    let open = wants
    for (let at = this.#spans.length - 1; at >= 0 && open > 0; at--) {
      const [first, end] = this.#spans[at] as Span
      const fits = this.#fit(first, Math.min(end, this.#now))
      const count = Math.min(open, fits)
      this.#cut(at, first < good ? fits - count : 0, count)
      open -= count
    }
  }

  /** The first of what lies ahead, where nothing lies back. */
  takeAhead(wants: number): void {
    let open = wants
    for (let at = 0; at < this.#spans.length && open > 0; ) {
      const [first, end] = this.#spans[at] as Span
      const spans = this.#spans.length
      const count = Math.min(open, this.#fit(first, end))
      this.#cut(at, 0, count)
      open -= count
      if (this.#spans.length === spans) at++
    }
  }

  /** Some from this time on. */
  takeAt(time: number, { likes, each }: Ahead): void {
    if (this.#spans.length > MOST_SPANS) return
    const at = this.#spans.findIndex(([, end]) => this.#fit(time, end) > 0)
    if (at < 0) return
    const [first, end] = this.#spans[at] as Span
    const skip = Math.max(0, Math.ceil((time - first) / this.#every))
    const fits = this.#fit(first + skip * this.#every, Math.min(end, time + each))
    this.#cut(at, skip, Math.min(likes, Math.floor(fits * SHARE)))
  }

  /** As it is stored. */
  get rest(): Pick<RateState, 'next' | 'spare'> {
    const spans = this.#spans.slice(0, -1)
    const [next] = this.#spans.at(-1) as Span
    return { next, ...(spans.length > 0 && { spare: { next, spans: spans.slice(-2 * MOST_SPANS) } }) }
  }

  /** So many of a span, but for its first. */
  #cut(at: number, skip: number, count: number): void {
    if (!(count > 0)) return
    const [first, end] = this.#spans[at] as Span
    const from = first + skip * this.#every
    const then = from + count * this.#every
    const before: Span[] = skip > 0 ? [[first, from]] : []
    const after: Span[] = at === this.#spans.length - 1 || this.#fit(then, end) > 0 ? [[then, end]] : []
    this.#spans.splice(at, 1, ...before, ...after)
    this.runs.push({ first: from, every: this.#every, count })
  }

  #fit(first: number, end: number): number {
    return fit(first, end, this.#every)
  }
}

/** How many instants lie from the first on, so that the next may be at the end. */
function fit(first: number, end: number, every: number): number {
  return Math.max(0, Math.floor((end - first + grain(every)) / every))
}

/** By so much an instant may be off. */
function grain(every: number): number {
  return Math.min(GRAIN, every / 2)
}

/** What was left out and is not void. */
function left({ next, spare }: RateState, oldest: number, every: number): Span[] {
  if (spare?.next !== next) return []
  return spare.spans.flatMap(([first, end]) => {
    const from = first + Math.max(0, Math.ceil((oldest - first) / every)) * every
    return fit(from, end, every) > 0 ? [[from, end] as const] : []
  })
}

/** Instants of a node that are neither void nor absurd: those later than `after`, up to `until`. */
export function living(rule: RateRule, now: number, lag: number): { after: number; until: number } {
  // None is reserved further ahead: the clock was put back. What is reserved from now on is a gap later at least.
  return { after: now + lag - tolerance(rule), until: now + AHEAD + grain(gap(rule)) }
}

/** Whether an attempt may begin by this instant now. Of a node that does not know the time well enough none may. */
export function isOpen(instant: number, rule: RateRule, now: number, lag: number): boolean {
  return instant <= now && !isVoid(instant, rule, now, lag)
}

/** It was not used in time, or the clock was put back. */
export function isVoid(instant: number, rule: RateRule, now: number, lag: number): boolean {
  const { after, until } = living(rule, now, lag)
  return !(instant > after && instant <= until)
}

/** The service asked for a rest until then. */
export function rested(state: RateState, until: number): RateState {
  return until <= state.rests ? state : { ...state, rests: until }
}
