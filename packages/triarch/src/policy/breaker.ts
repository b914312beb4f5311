/**
 * The circuit breaker (Nygard, Release It!, 2007) as a value and what becomes of it. One state for all nodes lies in the store; each
 * node tells what it saw, and whoever writes first decides. No clock, no I/O, no chance: instants and draws are given.
 */

/**
 * The numbers of a circuit breaker: what `circuitBreaker` of its agent means. Times in ms.
 * @example const { minimum, window }: BreakerRule = (await triarch.breaker('payments').info()).rule
 */
export interface BreakerRule {
  /** Share of ill answers in the window at which it opens. */
  readonly failureRate: number
  /** The same of slow ones; null: nobody minds. */
  readonly slowRate: number | null
  /** From here on an answer is slow; null: none is. */
  readonly slowerThan: number | null
  /** So far back answers count. */
  readonly window: number
  /** Fewer answers in the window say nothing. */
  readonly minimum: number
  /** How long it stays open the first time; twice as long each time after that, up to `openMax`. */
  readonly open: number
  /** Longest time that it stays open by itself. */
  readonly openMax: number
  /** Attempts that a half-open one lets through, over all nodes. */
  readonly probes: number
}

/**
 * `releasing`: the service answered its probes, and what waits goes out in waves, each twice the one before.
 * @example const { state }: { state: BreakerPhase } = await triarch.breaker('payments').info()
 */
export type BreakerPhase = 'closed' | 'open' | 'half-open' | 'releasing'

/** What was seen of a service. An answer may be both ill and slow. */
export interface Seen {
  readonly answers: number
  readonly ill: number
  readonly slow: number
}

/** What was seen in one part of the window, by the number of the part. */
export interface Bucket extends Seen {
  readonly part: number
}

/** What one node has of a wave: all that it ever said of it, so that a word that is heard twice changes nothing. */
export interface Share extends Seen {
  readonly node: string
  /** Attempts it may start, or has started, and knows no answer of. */
  readonly holds: number
  /** Then those count as ill: the node died, or cannot say. */
  readonly until: number
}

/** Attempts that go out together: probes, or a part of what waits. */
export interface Wave {
  /** One number for each wave: what is said of another is not for this one. */
  readonly number: number
  readonly size: number
  readonly shares: readonly Share[]
}

/** One change, and who made it. */
export interface BreakerMove {
  readonly at: number
  readonly from: BreakerPhase
  readonly to: BreakerPhase
  /** The id of a node, or what an operator is called. */
  readonly by: string
  readonly reason: string
}

export interface BreakerState {
  readonly phase: BreakerPhase
  /** When it came to this phase. */
  readonly since: number
  /** Open: no probe before; null: none before somebody closes it. */
  readonly until: number | null
  /** How often it opened since the service was well. */
  readonly streak: number
  readonly window: readonly Bucket[]
  /** Waves so far. */
  readonly waves: number
  readonly wave: Wave | null
  /** The last ones, oldest first. */
  readonly moves: readonly BreakerMove[]
}

/** What one node has to say, and what it wants. */
export interface Report {
  readonly node: string
  /** Seen while it was closed, and not told before. */
  readonly seen: readonly Bucket[]
  /** What it has of this wave, in all; null: of none. */
  readonly share: (Seen & { readonly wave: number; readonly holds: number }) | null
  /** Passes it could use now. */
  readonly wants: number
  /** How long it may be silent about passes (ms). */
  readonly lease: number
  /** Steps wait for it. */
  readonly waiting: boolean
}

/** Parts of a window. */
export const PARTS = 10
/** A wave of so many is no wave any more: what is left may go. */
const LARGEST_WAVE = 1_000
/** Changes that are kept. */
const MOST_MOVES = 20
/** Of its span it is open for at least this share: breakers that opened together do not probe together. */
const LEAST_SHARE = 0.75

export const NOTHING: Seen = { answers: 0, ill: 0, slow: 0 }

/** One that has seen nothing. */
export function newBreaker(at: number): BreakerState {
  return { phase: 'closed', since: at, until: null, streak: 0, window: [], waves: 0, wave: null, moves: [] }
}

/** The part of the window that an instant lies in. */
export function partOf({ window }: Pick<BreakerRule, 'window'>, at: number): number {
  return Math.floor(at / partLength(window))
}

/** Of a window of so many ms. */
export function partLength(window: number): number {
  return Math.max(1, window / PARTS)
}

/** What one answer says. Refusals are answers of a service that is well. */
export function seenOf({ slowerThan }: BreakerRule, ill: boolean, ms: number): Seen {
  return { answers: 1, ill: ill ? 1 : 0, slow: slowerThan !== null && ms >= slowerThan ? 1 : 0 }
}

export function sum(a: Seen, b: Seen): Seen {
  return { answers: a.answers + b.answers, ill: a.ill + b.ill, slow: a.slow + b.slow }
}

/** All that the window holds. */
export function totalOf({ window }: BreakerState, rule: Pick<BreakerRule, 'window'>, now: number): Seen {
  return fresh(window, rule, now).reduce<Seen>(sum, NOTHING)
}

/** With what a node has seen besides, oldest first, without what has left the window. */
export function merged(window: readonly Bucket[], more: readonly Bucket[]): Bucket[] {
  const parts = new Map<number, Bucket>()
  for (const bucket of [...window, ...more]) {
    parts.set(bucket.part, { part: bucket.part, ...sum(parts.get(bucket.part) ?? NOTHING, bucket) })
  }
  return [...parts.values()].sort((a, b) => a.part - b.part)
}

/** With one answer more, which is of the newest part as a rule: there is one of these for each attempt. */
export function noted(window: readonly Bucket[], part: number, seen: Seen): Bucket[] {
  const last = window.at(-1)
  if (last?.part !== part) return merged(window, [{ part, ...seen }])
  return window.with(-1, { part, ...sum(last, seen) })
}

/** Those of the buckets that are of the window. */
export function fresh(window: readonly Bucket[], rule: Pick<BreakerRule, 'window'>, now: number): Bucket[] {
  const newest = partOf(rule, now)
  return window.filter(({ part }) => part > newest - PARTS)
}

/** Whether this much says that the service is ill. */
export function isIll({ answers, ill, slow }: Seen, { failureRate, slowRate }: BreakerRule): boolean {
  if (answers === 0) return false
  return ill / answers >= failureRate || (slowRate !== null && slow / answers >= slowRate)
}

/** Attempts may start without a pass. */
export function isClosed({ phase }: BreakerState): boolean {
  return phase === 'closed'
}

/** Nobody may have a pass yet. */
export function isShut({ phase, until }: BreakerState, now: number): boolean {
  return phase === 'open' && (until === null || now < until)
}

/** Passes of the wave that are given out, used or not. */
export function givenOf({ shares }: Wave): number {
  return shares.reduce((given, { holds, answers }) => given + holds + answers, 0)
}

/** How many passes a node that wants some would get. */
export function passesFor(state: BreakerState, rule: BreakerRule, now: number, wants: number): number {
  if (isClosed(state) || isShut(state, now)) return 0
  const { wave } = state
  const left = wave ? wave.size - givenOf(wave) : rule.probes
  return Math.max(0, Math.min(wants, left))
}

/** Takes in what a node says, in this order: what it saw, what is overdue, what is due; then gives out what it wants. */
export function hear(
  before: BreakerState,
  rule: BreakerRule,
  report: Report,
  now: number,
  draw: number,
): { state: BreakerState; passes: number } {
  let state = before
  if (isClosed(state) && report.seen.length > 0) state = count(state, rule, report, now, draw)
  if (state.wave) state = settle(answered(state, state.wave, report, now), rule, report, now, draw)
  const passes = report.waiting ? passesFor(state, rule, now, report.wants) : 0
  if (passes > 0) state = given(state, rule, report, now, passes)
  return { state, passes }
}

function count(
  state: BreakerState,
  rule: BreakerRule,
  { seen, node }: Report,
  now: number,
  draw: number,
): BreakerState {
  const window = fresh(merged(state.window, seen), rule, now)
  const counted = { ...state, window }
  const total = totalOf(counted, rule, now)
  if (total.answers < rule.minimum || !isIll(total, rule)) return counted
  return opened(counted, rule, { at: now, by: node, reason: told(total) }, draw)
}

/** The wave with what the node says of its share; what others said nothing of for too long counts as ill. */
function answered(state: BreakerState, wave: Wave, { node, share, lease }: Report, now: number): BreakerState {
  const said = share?.wave === wave.number ? share : { ...NOTHING, holds: 0 }
  const shares = wave.shares.map((one): Share => {
    if (one.node === node) {
      const { holds, answers, ill, slow } = said
      return { node, holds, answers, ill, slow, until: holds > 0 ? renewed(one.until, now, lease) : one.until }
    }
    if (one.holds === 0 || now < one.until) return one
    return { ...one, holds: 0, answers: one.answers + one.holds, ill: one.ill + one.holds }
  })
  return { ...state, wave: { ...wave, shares } }
}

/** Not with each word: only when half of the time is over, for each renewal is a write. */
function renewed(until: number, now: number, lease: number): number {
  return until - now < lease / 2 ? now + lease : until
}

/** What the wave says, as soon as it says anything. */
function settle(state: BreakerState, rule: BreakerRule, report: Report, now: number, draw: number): BreakerState {
  const { wave } = state
  if (!wave) return state
  const seen = wave.shares.reduce<Seen>(sum, NOTHING)
  const word = { at: now, by: report.node }
  const complete = seen.answers >= wave.size
  if (state.phase === 'half-open') {
    // One ill answer is enough.
    if (isIll(seen, { ...rule, failureRate: Number.MIN_VALUE }))
      return opened(state, rule, { ...word, reason: told(seen) }, draw)
    if (!complete) return state
    const reason = `${wave.size} ${wave.size === 1 ? 'probe was' : 'probes were'} answered`
    return report.waiting ? released(state, 2 * rule.probes, { ...word, reason }) : closed(state, { ...word, reason })
  }
  // As soon as the rest of the wave could not make up for it.
  if (isIll({ ...seen, answers: Math.max(seen.answers, wave.size) }, rule))
    return opened(state, rule, { ...word, reason: told(seen) }, draw)
  const over = !report.waiting && wave.shares.every(({ holds }) => holds === 0)
  if (over || (complete && wave.size >= LARGEST_WAVE)) return closed(state, { ...word, reason: 'what waited went out' })
  return complete ? inWave(state, 2 * wave.size) : state
}

function given(state: BreakerState, rule: BreakerRule, report: Report, now: number, passes: number): BreakerState {
  const { node, lease } = report
  const begun =
    state.phase === 'open'
      ? inWave(moved(state, 'half-open', { at: now, by: node, reason: 'its time is over' }), rule.probes)
      : state
  const { wave } = begun
  if (!wave) return state
  const own = wave.shares.find((it) => it.node === node) ?? { ...NOTHING, node, holds: 0 }
  const others = wave.shares.filter((it) => it.node !== node)
  const shares = [...others, { ...own, holds: own.holds + passes, until: now + lease }]
  return { ...begun, wave: { ...wave, shares } }
}

/** Who changes it, when and why. */
export type Word = Pick<BreakerMove, 'at' | 'by' | 'reason'>

function moved(state: BreakerState, to: BreakerPhase, word: Word): BreakerState {
  const move: BreakerMove = { ...word, from: state.phase, to }
  return { ...state, phase: to, since: word.at, until: null, moves: [...state.moves, move].slice(-MOST_MOVES) }
}

function opened(state: BreakerState, rule: BreakerRule, word: Word, draw: number): BreakerState {
  const span = Math.min(rule.openMax, rule.open * 2 ** state.streak)
  const until = word.at + Math.ceil(span * (LEAST_SHARE + (1 - LEAST_SHARE) * draw))
  // Beyond this many the span is at its most for any rule.
  const streak = Math.min(state.streak + 1, 40)
  return { ...moved(state, 'open', word), until, streak, window: [], wave: null }
}

function released(state: BreakerState, size: number, word: Word): BreakerState {
  return inWave(moved(state, 'releasing', word), size)
}

function inWave(state: BreakerState, size: number): BreakerState {
  const number = state.waves + 1
  return { ...state, waves: number, wave: { number, size, shares: [] } }
}

function closed(state: BreakerState, word: Word): BreakerState {
  return { ...moved(state, 'closed', word), streak: 0, window: [], wave: null }
}

/** An operator opens it. `until`: no probe before; null: none before somebody closes it. */
export function forceOpen(state: BreakerState, until: number | null, word: Word): BreakerState {
  return { ...moved(state, 'open', word), until, window: [], wave: null }
}

/** An operator closes it: what waits goes out in waves, and if the service is ill all the same it opens again. */
export function forceClosed(state: BreakerState, { probes }: Pick<BreakerRule, 'probes'>, word: Word): BreakerState {
  if (isClosed(state)) return state
  return released({ ...state, window: [] }, 2 * probes, word)
}

/** An operator forgets what it has seen: as if the service had always been well. */
export function reset(state: BreakerState, rule: Pick<BreakerRule, 'probes'>, word: Word): BreakerState {
  const blank = { ...state, streak: 0, window: [] }
  return isClosed(state) ? moved(blank, 'closed', word) : forceClosed(blank, rule, word)
}

function told({ answers, ill, slow }: Seen): string {
  const parts = [`${ill} of ${answers} answers ill`, slow > 0 && `${slow} slow`].filter((part) => part !== false)
  return parts.join(', ')
}
