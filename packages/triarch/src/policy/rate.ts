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
  /** It counts beside this one alone: whoever moves that otherwise (for another rule, another clock, or by older code) does not know of it. */
  readonly next: number
  /** Oldest first: the first instant of each, and the one at which it is over. */
  readonly spans: readonly (readonly [first: number, end: number])[]
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
  /** For what may come; as far as they would go by unused. */
  readonly likes: number
}

/** So far ahead nodes reserve (ms): what one that dies takes with it, and how long others go on before they hear of a rest. */
const AHEAD = 500

/** What is reserved is written, and its attempt begins, in this time (ms): a disk that is asked to be sure takes far longer than an answer of the clock. */
const WRITTEN = 25

/** What lies back is taken as it is found if it lasts so long (ms), or for three quarters of what any does; else the newest is. */
const LASTS = 2_000

/** More spans cannot be left out before the oldest are void. */
const MOST_SPANS = 8

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

/** When the first instant could be reserved (ms of the store's clock). */
export function reservableAt({ next, rests }: RateState): number {
  return Math.max(next, rests) - AHEAD
}

/** For a rule that was another: what the one before had reserved reaches no further ahead than this one could, and what it left out is void. */
export function restarted(state: RateState, rule: RateRule, now: number, lag: number): RateState {
  const next = Math.min(state.next, now + lag + AHEAD + gap(rule))
  return next < state.next || state.spare ? { next, rests: state.rests } : state
}

/**
 * Instants that nobody has. `lag`: how far the store's clock may be ahead of `now` (ms). Where more lie back than are wanted, those that last:
 * a node that had the oldest would have to ask again and again. What is older is left out, for a burst that comes.
 */
export function reserve(
  state: RateState,
  rule: RateRule,
  now: number,
  { needs, likes }: Wants,
  lag: number,
): { state: RateState; runs: readonly Run[] } {
  const every = gap(rule)
  const lasts = tolerance(rule)
  // Not so old that it is void before it can be used: once this is written and its attempt begins.
  const used = Math.max(every, 2 * lag, Math.min(WRITTEN, lasts / 4))
  const oldest = Math.max(now - Math.max(0, lasts - used), Math.min(state.rests, now + lag + LONGEST_REST))
  // None of this rule can be later: the store's clock was put back, or the limit was lower before.
  const next = Math.min(state.next, now + lag + AHEAD + every)
  const head = Math.max(next, oldest)
  const spans = next < state.next ? [] : left(state, oldest, every)
  const back = fit(head, now + every, every)
  const spared = spans.reduce((sum, [first, end]) => sum + fit(first, end, every), 0)
  const count = Math.max(needs, Math.min(likes, Math.floor((back + spared) / 4)))
  const older = Math.max(0, Math.min(spared, count - back))
  const newer = Math.min(count - older, fit(head, now + AHEAD + every, every))
  // Kept where it was put back: measured from each now anew it would never come.
  if (!(Math.max(older, newer) > 0))
    return { state: next < state.next ? { next, rests: state.rests } : state, runs: [] }
  const [rest, runs] = taken(spans, older, every)
  const stale = head + lasts - now < Math.min(LASTS, (3 / 4) * lasts)
  const first = stale ? head + Math.max(0, back - newer) * every : head
  if (newer > 0) runs.push({ first, every, count: newer })
  if (first > head) rest.push([head, first])
  const moved = newer > 0 ? first + newer * every : next
  const spare = rest.length > 0 && { spare: { next: moved, spans: rest.slice(-MOST_SPANS) } }
  return { state: { next: moved, rests: state.rests, ...spare }, runs }
}

/** How many instants lie from the first on, so that the next may be at the end. */
function fit(first: number, end: number, every: number): number {
  return Math.max(0, Math.floor((end - first + Math.min(GRAIN, every / 2)) / every))
}

/** What was left out and is not void. */
function left({ next, spare }: RateState, oldest: number, every: number): (readonly [number, number])[] {
  if (spare?.next !== next) return []
  return spare.spans.flatMap(([first, end]) => {
    const from = first + Math.max(0, Math.ceil((oldest - first) / every)) * every
    return fit(from, end, every) > 0 ? [[from, end] as const] : []
  })
}

/** The newest of them, so many; what is left then, and those, both oldest first. */
function taken(
  spans: readonly (readonly [number, number])[],
  wants: number,
  every: number,
): [rest: (readonly [number, number])[], runs: Run[]] {
  const rest: (readonly [number, number])[] = []
  const runs: Run[] = []
  let open = wants
  for (const [first, end] of spans.toReversed()) {
    const fits = fit(first, end, every)
    const count = Math.min(open, fits)
    const from = first + (fits - count) * every
    if (count > 0) runs.unshift({ first: from, every, count })
    if (count < fits) rest.unshift([first, count > 0 ? from : end])
    open -= count
  }
  return [rest, runs]
}

/** Instants of a node that are neither void nor absurd: those later than `after`, up to `until`. */
export function living(rule: RateRule, now: number, lag: number): { after: number; until: number } {
  // None is reserved further ahead: the clock was put back. What is reserved from now on is a gap later at least.
  return { after: now + lag - tolerance(rule), until: now + AHEAD }
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
