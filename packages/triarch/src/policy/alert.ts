/** How bad it is. */
export type AlertSeverity = 'warning' | 'critical'

/**
 * What is true of one subject of one rule. `pending`: it holds, and not yet for long enough. `firing`: somebody must look. `ended`: kept to be read.
 */
export type AlertPhase = 'pending' | 'firing' | 'ended'

/** Who did something to an alert, and why. */
export interface AlertAct {
  by: string
  reason: string
  /** Database time (ms since the epoch). */
  at: number
}

/** An alert as it is stored. All times are of the database (ms since the epoch). */
export interface AlertState {
  /** One for each time that it opens: the same however often it is told of. */
  id: string
  phase: AlertPhase
  severity: AlertSeverity
  message: string
  /** Since when the condition holds. */
  since: number
  /** When it began to fire. */
  firedAt: number | null
  /** Since when the condition is gone; null: it holds, as far as is known. */
  goneAt: number | null
  /** When it ended, and by whom; by null: the condition was gone for long enough. */
  ended: { at: number; by: AlertAct | null } | null
  /** Who has it in hand. */
  owner: AlertAct | null
  /** Until when nobody is told that it fires. */
  silence: (AlertAct & { until: number }) | null
  /** When the sinks were last told that it fires; null: never. */
  toldAt: number | null
}

/** How patient a rule is. */
export interface AlertTerms {
  /** How long the condition must hold before it fires (ms). */
  for: number
  /** How long it must be gone before the alert ends (ms): what comes and goes is one alert. */
  keep: number
  /** After so long sinks are told again, while nobody owns it (ms); null: once is enough. */
  repeat: number | null
}

/**
 * What one look found of one subject. `unknown`: the rule could not be evaluated, which is neither "it holds" nor "it is gone".
 */
export type AlertSighting =
  | { found: 'holds'; severity: AlertSeverity; message: string }
  | { found: 'gone' }
  | { found: 'unknown' }

/** What the sinks are to hear. */
export type AlertNews = 'raised' | 'repeated' | 'ended'

/** What is to be stored (null: no row) and told (null: nothing). */
export interface AlertStep {
  state: AlertState | null
  news: AlertNews | null
}

/** What becomes of an alert by one look. `id`: for the case that one opens here. */
export function sighted(
  before: AlertState | null,
  sighting: AlertSighting,
  terms: AlertTerms,
  { now, id }: { now: number; id: string },
): AlertStep {
  if (sighting.found === 'unknown') return { state: before, news: null }
  if (sighting.found === 'gone') return before ? gone(before, terms, now) : { state: null, news: null }
  const { severity, message } = sighting
  if (before === null || (before.phase === 'ended' && before.goneAt !== null)) {
    return told(matured(opened(id, now, { severity, message }), terms, now), terms, now)
  }
  // Ended by hand while it held: it opens anew only after it was gone once.
  if (before.phase === 'ended') return { state: before, news: null }
  return told(matured({ ...before, severity, message, goneAt: null }, terms, now), terms, now)
}

/** Somebody has it in hand: it is not repeated. Null: there is nothing to own. */
export function acknowledged(state: AlertState, owner: AlertAct): AlertState | null {
  return state.phase === 'ended' ? null : { ...state, owner }
}

/** Nobody is told that it fires until then; its end is told to those who know of it. Null: it ended already. */
export function silenced(state: AlertState, silence: AlertAct & { until: number }): AlertState | null {
  return state.phase === 'ended' ? null : { ...state, silence }
}

/** Ended by hand, whether its condition holds or not. Null: it ended already. */
export function endedBy(state: AlertState, by: AlertAct): AlertStep | null {
  if (state.phase === 'ended') return null
  return { state: { ...state, phase: 'ended', ended: { at: by.at, by } }, news: state.toldAt === null ? null : 'ended' }
}

function opened(id: string, now: number, about: { severity: AlertSeverity; message: string }): AlertState {
  return {
    ...{ id, ...about, phase: 'pending', since: now, firedAt: null, goneAt: null },
    ...{ ended: null, owner: null, silence: null, toldAt: null },
  }
}

function matured(state: AlertState, terms: AlertTerms, now: number): AlertState {
  if (state.phase !== 'pending' || now - state.since < terms.for) return state
  return { ...state, phase: 'firing', firedAt: now }
}

/** Whoever was silenced when it began to fire hears of it when the silence is over. */
function told(state: AlertState, { repeat }: AlertTerms, now: number): AlertStep {
  if (state.phase !== 'firing' || (state.silence && now < state.silence.until)) return { state, news: null }
  if (state.toldAt === null) return { state: { ...state, toldAt: now }, news: 'raised' }
  if (repeat === null || state.owner || now - state.toldAt < repeat) return { state, news: null }
  return { state: { ...state, toldAt: now }, news: 'repeated' }
}

function gone(before: AlertState, { keep }: AlertTerms, now: number): AlertStep {
  if (before.phase === 'pending') return { state: null, news: null }
  const state = { ...before, goneAt: before.goneAt ?? now }
  if (before.phase === 'ended' || now - state.goneAt < keep) return { state, news: null }
  const ended: AlertState = { ...state, phase: 'ended', ended: { at: now, by: null } }
  return { state: ended, news: state.toldAt === null ? null : 'ended' }
}
