/** How severe an alert is. */
export type AlertSeverity = 'warning' | 'critical'

/**
 * State of one subject under one rule. `pending`: the condition holds, but not for long enough yet. `firing`: an operator must look.
 * `ended`: kept for reading.
 */
export type AlertPhase = 'pending' | 'firing' | 'ended'

/** Who acted on an alert, and why. */
export interface AlertAct {
  by: string
  reason: string
  /** Database time (ms since the epoch). */
  at: number
}

/** An alert as it is stored. All times are of the database (ms since the epoch). */
export interface AlertState {
  /** Another id each time the alert opens, and the same in all notifications of it. */
  id: string
  phase: AlertPhase
  severity: AlertSeverity
  message: string
  /** Since when the condition has held. */
  since: number
  /** When it began to fire. */
  firedAt: number | null
  /** Since when the condition is gone; null: it holds, as far as is known. */
  goneAt: number | null
  /** When the alert ended, and by whom; `by` null: the condition was gone for long enough. */
  ended: { at: number; by: AlertAct | null } | null
  /** The operator who has taken the alert over. */
  owner: AlertAct | null
  /** Until when no notification is sent that the alert fires. */
  silence: (AlertAct & { until: number }) | null
  /** When the sinks were last notified that the alert fires; null: never. */
  toldAt: number | null
}

/** The time constants of a rule. */
export interface AlertTerms {
  /** How long the condition must hold before the alert fires (ms). */
  for: number
  /** How long the condition must be gone before the alert ends (ms), so that a condition which comes and goes makes one alert. */
  keep: number
  /** The sinks are notified again after this time while the alert has no owner (ms); null: once only. */
  repeat: number | null
}

/**
 * The result of one evaluation for one subject. `unknown`: the rule could not be evaluated, so the condition is neither known to hold nor
 * known to be gone.
 */
export type AlertSighting =
  | { found: 'holds'; severity: AlertSeverity; message: string }
  | { found: 'gone' }
  | { found: 'unknown' }

/** The kind of a notification to the sinks. */
export type AlertNews = 'raised' | 'repeated' | 'ended'

/** The state to store (null: no row) and the notification to send (null: none). */
export interface AlertStep {
  state: AlertState | null
  news: AlertNews | null
}

/** The effect of one evaluation on an alert. `id`: for an alert that opens with it. */
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
  // An alert that was ended by hand while its condition held can only open again after the condition was gone.
  if (before.phase === 'ended') return { state: before, news: null }
  return told(matured({ ...before, severity, message, goneAt: null }, terms, now), terms, now)
}

/** An operator takes the alert over, which ends repetitions. Null: the alert has ended. */
export function acknowledged(state: AlertState, owner: AlertAct): AlertState | null {
  return state.phase === 'ended' ? null : { ...state, owner }
}

/** No notification is sent until then that the alert fires; its end is notified to those who were told of it. Null: the alert has ended. */
export function silenced(state: AlertState, silence: AlertAct & { until: number }): AlertState | null {
  return state.phase === 'ended' ? null : { ...state, silence }
}

/** Ends the alert by hand, whether its condition holds or not. Null: it has ended already. */
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

/** Notifies the sinks of a firing alert. One that began to fire during a silence is notified when the silence is over. */
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
