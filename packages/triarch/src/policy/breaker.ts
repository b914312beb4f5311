/**
 * The circuit breaker (Nygard, Release It!, 2007) as a pure value. All nodes share one state in the store; each node reports what it has
 * seen, and the first write decides. There is no clock, I/O or randomness here: instants and random draws are arguments.
 */

/**
 * The parameters of a circuit breaker, as given by `circuitBreaker` of its agent. Times in ms.
 * @example const { minimum, window }: BreakerRule = (await triarch.breakers.get('payments').info()).rule
 */
export interface BreakerRule {
  /** The breaker opens at this share of ill answers in the window. */
  readonly failureRate: number
  /** The breaker opens at this share of slow answers; null: slow answers do not open it. */
  readonly slowRate: number | null
  /** An answer that takes this long or longer is slow; null: none is. */
  readonly slowerThan: number | null
  /** How far back answers count. */
  readonly window: number
  /** With fewer answers in the window the breaker does not open. */
  readonly minimum: number
  /** How long the breaker stays open the first time; twice as long each time after that, up to `openMax`. */
  readonly open: number
  /** Longest time that the breaker stays open by itself. */
  readonly openMax: number
  /** Attempts that a half-open breaker lets through, over all nodes. */
  readonly probes: number
}

/**
 * `releasing`: the service has answered its probes, and waiting steps start in waves, each twice as large as the one before.
 * @example const { state }: { state: BreakerPhase } = await triarch.breakers.get('payments').info()
 */
export type BreakerPhase = 'closed' | 'open' | 'half-open' | 'releasing'

/** Counts of answers of a service. An answer may be both ill and slow. */
export interface AnswerCounts {
  readonly answers: number
  readonly ill: number
  readonly slow: number
}

/** The counts of one part of the window, with the number of the part. */
export interface Bucket extends AnswerCounts {
  readonly part: number
}

/** One node's share of a wave. A node reports its totals, so that a report that arrives twice changes nothing. */
export interface WaveShare extends AnswerCounts {
  readonly node: string
  /** Attempts that the node may start, or has started without an answer yet. */
  readonly holds: number
  /** After this instant those attempts count as ill, because the node died or cannot report. */
  readonly until: number
}

/** Attempts that are let through together: probes, or a part of the waiting steps. */
export interface Wave {
  /** A different number for each wave, so that reports about another wave are recognised. */
  readonly number: number
  readonly size: number
  readonly shares: readonly WaveShare[]
}

/** One change of the phase, and who made it. */
export interface BreakerMove {
  readonly at: number
  readonly from: BreakerPhase
  readonly to: BreakerPhase
  /** The id of a node, or the name of an operator. */
  readonly by: string
  readonly reason: string
}

export interface BreakerState {
  readonly phase: BreakerPhase
  /** When the present phase began. */
  readonly since: number
  /** Of an open breaker: no probe before this instant; null: none until an operator closes it. */
  readonly until: number | null
  /** How often the breaker has opened since the service was last well. */
  readonly streak: number
  readonly window: readonly Bucket[]
  /** Number of waves so far. */
  readonly waves: number
  readonly wave: Wave | null
  /** The latest changes, oldest first. */
  readonly moves: readonly BreakerMove[]
}

/** One node's report and its request for passes. */
export interface Report {
  readonly node: string
  /** Answers seen while the breaker was closed and not reported before. */
  readonly seen: readonly Bucket[]
  /** The node's totals of the wave; null: it has no share in it. */
  readonly share: (AnswerCounts & { readonly wave: number; readonly holds: number }) | null
  /** Number of passes that the node could use now. */
  readonly wants: number
  /** How long the node may hold passes without a report (ms). */
  readonly lease: number
  /** Steps of the node wait for the breaker. */
  readonly waiting: boolean
}

/** Number of parts of a window. */
export const PARTS = 10
/** A wave of this size ends the release; the rest may start. */
const LARGEST_WAVE = 1_000
/** Number of changes that are kept. */
const MOST_MOVES = 20
/**
 * The breaker stays open for at least this share of its span, and a random part of the rest, so that breakers that opened together do not
 * probe together.
 */
const LEAST_SHARE = 0.75

export const NO_ANSWERS: AnswerCounts = { answers: 0, ill: 0, slow: 0 }

/** A closed breaker without any answers. */
export function newBreaker(at: number): BreakerState {
  return { phase: 'closed', since: at, until: null, streak: 0, window: [], waves: 0, wave: null, moves: [] }
}

/** The part of the window that an instant lies in. */
export function partOf({ window }: Pick<BreakerRule, 'window'>, at: number): number {
  return Math.floor(at / partLength(window))
}

/** Length of one part of a window (ms). */
export function partLength(window: number): number {
  return Math.max(1, window / PARTS)
}

/** The counts of one answer. A refusal is an answer of a healthy service. */
export function seenOf({ slowerThan }: BreakerRule, ill: boolean, ms: number): AnswerCounts {
  return { answers: 1, ill: ill ? 1 : 0, slow: slowerThan !== null && ms >= slowerThan ? 1 : 0 }
}

export function sum(a: AnswerCounts, b: AnswerCounts): AnswerCounts {
  return { answers: a.answers + b.answers, ill: a.ill + b.ill, slow: a.slow + b.slow }
}

/** The counts of the whole window. */
export function totalOf({ window }: BreakerState, rule: Pick<BreakerRule, 'window'>, now: number): AnswerCounts {
  return fresh(window, rule, now).reduce<AnswerCounts>(sum, NO_ANSWERS)
}

/** The window with the counts of a node added, oldest part first. */
export function mergedWindow(window: readonly Bucket[], more: readonly Bucket[]): Bucket[] {
  const parts = new Map<number, Bucket>()
  for (const bucket of [...window, ...more]) {
    parts.set(bucket.part, { part: bucket.part, ...sum(parts.get(bucket.part) ?? NO_ANSWERS, bucket) })
  }
  return [...parts.values()].sort((a, b) => a.part - b.part)
}

/** The window with one more answer. Answers mostly belong to the newest part, and this runs for each attempt. */
export function noted(window: readonly Bucket[], part: number, seen: AnswerCounts): Bucket[] {
  const last = window.at(-1)
  if (last?.part !== part) return mergedWindow(window, [{ part, ...seen }])
  return window.with(-1, { part, ...sum(last, seen) })
}

/** The parts that are still in the window. */
export function fresh(window: readonly Bucket[], rule: Pick<BreakerRule, 'window'>, now: number): Bucket[] {
  const newest = partOf(rule, now)
  return window.filter(({ part }) => part > newest - PARTS)
}

/** Whether these counts mean that the service is ill. */
export function isIll({ answers, ill, slow }: AnswerCounts, { failureRate, slowRate }: BreakerRule): boolean {
  if (answers === 0) return false
  return ill / answers >= failureRate || (slowRate !== null && slow / answers >= slowRate)
}

/** Whether attempts may start without a pass. */
export function isClosed({ phase }: BreakerState): boolean {
  return phase === 'closed'
}

/** Whether no pass may be given yet. */
export function isShut({ phase, until }: BreakerState, now: number): boolean {
  return phase === 'open' && (until === null || now < until)
}

/** Passes of the wave that have been given out, used or not. */
export function givenOf({ shares }: Wave): number {
  return shares.reduce((given, { holds, answers }) => given + holds + answers, 0)
}

/** How many passes a node that asks for `wants` would get. */
export function passesFor(state: BreakerState, rule: BreakerRule, now: number, wants: number): number {
  if (isClosed(state) || isShut(state, now)) return 0
  const { wave } = state
  const left = wave ? wave.size - givenOf(wave) : rule.probes
  return Math.max(0, Math.min(wants, left))
}

/**
 * Applies a node's report: first the answers it has seen, then overdue shares, then changes of the phase; then gives out the passes it
 * wants.
 */
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
  const window = fresh(mergedWindow(state.window, seen), rule, now)
  const counted = { ...state, window }
  const total = totalOf(counted, rule, now)
  if (total.answers < rule.minimum || !isIll(total, rule)) return counted
  return opened(counted, rule, { at: now, by: node, reason: told(total) }, draw)
}

/** The wave with the node's reported share. Attempts of other nodes count as ill if their nodes have not reported for too long. */
function answered(state: BreakerState, wave: Wave, { node, share, lease }: Report, now: number): BreakerState {
  const said = share?.wave === wave.number ? share : { ...NO_ANSWERS, holds: 0 }
  const shares = wave.shares.map((one): WaveShare => {
    if (one.node === node) {
      const { holds, answers, ill, slow } = said
      return { node, holds, answers, ill, slow, until: holds > 0 ? renewed(one.until, now, lease) : one.until }
    }
    if (one.holds === 0 || now < one.until) return one
    return { ...one, holds: 0, answers: one.answers + one.holds, ill: one.ill + one.holds }
  })
  return { ...state, wave: { ...wave, shares } }
}

/** Renews a share's deadline only after half of its time, because each renewal is a write. */
function renewed(until: number, now: number, lease: number): number {
  return until - now < lease / 2 ? now + lease : until
}

/** Changes the phase as soon as the wave's answers decide it. */
function settle(state: BreakerState, rule: BreakerRule, report: Report, now: number, draw: number): BreakerState {
  const { wave } = state
  if (!wave) return state
  const seen = wave.shares.reduce<AnswerCounts>(sum, NO_ANSWERS)
  const word = { at: now, by: report.node }
  const complete = seen.answers >= wave.size
  if (state.phase === 'half-open') {
    // A single ill answer opens the breaker again.
    if (isIll(seen, { ...rule, failureRate: Number.MIN_VALUE }))
      return opened(state, rule, { ...word, reason: told(seen) }, draw)
    if (!complete) return state
    const reason = `${wave.size} ${wave.size === 1 ? 'probe was' : 'probes were'} answered`
    return report.waiting ? released(state, 2 * rule.probes, { ...word, reason }) : closed(state, { ...word, reason })
  }
  // The breaker opens as soon as the rest of the wave could not make up for the ill answers.
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
  const own = wave.shares.find((it) => it.node === node) ?? { ...NO_ANSWERS, node, holds: 0 }
  const others = wave.shares.filter((it) => it.node !== node)
  const shares = [...others, { ...own, holds: own.holds + passes, until: now + lease }]
  return { ...begun, wave: { ...wave, shares } }
}

/** Who changes the breaker, when and why. */
export type BreakerChangeOrigin = Pick<BreakerMove, 'at' | 'by' | 'reason'>

function moved(state: BreakerState, to: BreakerPhase, word: BreakerChangeOrigin): BreakerState {
  const move: BreakerMove = { ...word, from: state.phase, to }
  return { ...state, phase: to, since: word.at, until: null, moves: [...state.moves, move].slice(-MOST_MOVES) }
}

function opened(state: BreakerState, rule: BreakerRule, word: BreakerChangeOrigin, draw: number): BreakerState {
  const span = Math.min(rule.openMax, rule.open * 2 ** state.streak)
  const until = word.at + Math.ceil(span * (LEAST_SHARE + (1 - LEAST_SHARE) * draw))
  // From 40 on, the span is at its maximum under any rule.
  const streak = Math.min(state.streak + 1, 40)
  return { ...moved(state, 'open', word), until, streak, window: [], wave: null }
}

function released(state: BreakerState, size: number, word: BreakerChangeOrigin): BreakerState {
  return inWave(moved(state, 'releasing', word), size)
}

function inWave(state: BreakerState, size: number): BreakerState {
  const number = state.waves + 1
  return { ...state, waves: number, wave: { number, size, shares: [] } }
}

function closed(state: BreakerState, word: BreakerChangeOrigin): BreakerState {
  return { ...moved(state, 'closed', word), streak: 0, window: [], wave: null }
}

/** An operator opens the breaker. `until`: no probe before this instant; null: none until an operator closes it. */
export function forceOpen(state: BreakerState, until: number | null, word: BreakerChangeOrigin): BreakerState {
  return { ...moved(state, 'open', word), until, window: [], wave: null }
}

/** An operator closes the breaker: waiting steps start in waves, and if the service is still ill the breaker opens again. */
export function forceClosed(
  state: BreakerState,
  { probes }: Pick<BreakerRule, 'probes'>,
  word: BreakerChangeOrigin,
): BreakerState {
  if (isClosed(state)) return state
  return released({ ...state, window: [] }, 2 * probes, word)
}

/** An operator clears the breaker's history, as if the service had always been well. */
export function reset(state: BreakerState, rule: Pick<BreakerRule, 'probes'>, word: BreakerChangeOrigin): BreakerState {
  const blank = { ...state, streak: 0, window: [] }
  return isClosed(state) ? moved(blank, 'closed', word) : forceClosed(blank, rule, word)
}

function told({ answers, ill, slow }: AnswerCounts): string {
  const parts = [`${ill} of ${answers} answers ill`, slow > 0 && `${slow} slow`].filter((part) => part !== false)
  return parts.join(', ')
}
