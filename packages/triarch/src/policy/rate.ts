/**
 * A rate limit over all nodes as a value: the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling), turned round. There an
 * arrival is held against the instant at which it was expected; here nodes reserve those instants beforehand, in portions, and each lets one
 * attempt begin, at its instant or a bounded time later. What all nodes share is one number: the first instant that nobody has. An instant
 * that is not used in time is void, so nothing comes back after a crash, and nothing adds up in a pause. No clock, no I/O, no chance.
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
}

/** So far ahead nodes reserve (ms): what one that dies takes with it, and how long others go on before they hear of a rest. */
const AHEAD = 500

/** What is reserved is written, and its attempt begins, in this time (ms): a disk that is asked to be sure takes far longer than an answer of the clock. */
const WRITTEN = 25

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

/** For a rule that was another: what the one before had reserved reaches no further ahead than this one could. */
export function restarted(state: RateState, rule: RateRule, now: number, lag: number): RateState {
  const next = now + lag + AHEAD + gap(rule)
  return next < state.next ? { ...state, next } : state
}

/** The next instants, at most `wants`. `lag`: how far the store's clock may be ahead of `now` (ms). */
export function reserve(
  state: RateState,
  rule: RateRule,
  now: number,
  wants: number,
  lag: number,
): { state: RateState; instants: readonly number[] } {
  const every = gap(rule)
  // Not so old that it is void before it can be used: once this is written and its attempt begins.
  const used = Math.max(every, 2 * lag, Math.min(WRITTEN, tolerance(rule) / 4))
  const oldest = now - Math.max(0, tolerance(rule) - used)
  // None of this rule can be later: the store's clock was put back, or the limit was lower before.
  const next = Math.min(state.next, now + lag + AHEAD + every)
  const first = Math.max(next, Math.min(state.rests, now + lag + LONGEST_REST), oldest)
  const most = Math.floor((now + AHEAD - first) / every) + 1
  const count = Math.min(wants, most)
  // Kept where it was put back: measured from each now anew it would never come.
  if (!(count > 0)) return { state: next < state.next ? { ...state, next } : state, instants: [] }
  const instants = Array.from({ length: count }, (_, index) => first + index * every)
  return { state: { ...state, next: first + count * every }, instants }
}

/** Whether an attempt may begin by this instant now. Of a node that does not know the time well enough none may. */
export function isOpen(instant: number, rule: RateRule, now: number, lag: number): boolean {
  return instant <= now && !isVoid(instant, rule, now, lag)
}

/** It was not used in time, or the clock was put back: none is reserved so far ahead. */
export function isVoid(instant: number, rule: RateRule, now: number, lag: number): boolean {
  if (instant > now + AHEAD + gap(rule)) return true
  return now + lag >= instant + tolerance(rule)
}

/** The service asked for a rest until then. */
export function rested(state: RateState, until: number): RateState {
  return until <= state.rests ? state : { ...state, rests: until }
}
