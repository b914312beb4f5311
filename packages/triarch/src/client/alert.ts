import type { AlertSinkTrial } from '../alert/sink.ts'
import type { AlertPhase, AlertSeverity } from '../policy/alert.ts'

/**
 * Who did something to an alert, and why.
 * @example const said = ({ actor, reason }: AlertWord) => `${actor}: ${reason}`
 */
export interface AlertWord {
  /** The actor; `operator` if none was named. */
  actor: string
  /** The reason. */
  reason: string
  /** When (store's clock). */
  at: Date
}

/**
 * A problem, from its detection to its end.
 * @example const urgent = ({ phase, owner }: AlertInfo) => phase === 'firing' && !owner
 */
export interface AlertInfo {
  /** `rule:subject`. */
  name: string
  /** Distinguishes the times that it was opened. */
  id: string
  /** The rule that detected it. */
  rule: string
  /** Its subject; `*`: stands for all subjects that were too many to be listed. */
  subject: string
  /** `pending`: its condition holds, but not for long enough yet; `firing`: it needs attention; `ended`: it is over. */
  phase: AlertPhase
  /** Its severity. */
  severity: AlertSeverity
  /** The alert in one sentence. */
  message: string
  /** Since when its condition has held. */
  since: Date
  /** When it began to fire; undefined: it never did. */
  firedAt: Date | undefined
  /** When it ended; undefined: it has not. */
  endedAt: Date | undefined
  /** Who ended it by hand; undefined: it was not ended by hand. */
  endedBy: AlertWord | undefined
  /** Who acknowledged it; undefined: it is not acknowledged. */
  owner: AlertWord | undefined
  /** Until when sinks are not notified that it fires, and who silenced it; undefined: it is not silenced. */
  silence: (AlertWord & { until: Date }) | undefined
  /** When the sinks were last notified that it fires; undefined: never. */
  toldAt: Date | undefined
}

/**
 * Which alerts to list, and how many.
 * @example const { alerts } = await triarch.alerts.list({ ended: true })
 */
export interface AlertsOptions {
  /** Ended alerts instead of those that have not ended; false by default. */
  ended?: boolean
  /** `next` of the previous page. */
  cursor?: string
  /** Alerts a page, at most: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the alerts, by name.
 * @example
 * const page: AlertPage = await triarch.alerts.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.alerts.list({ cursor: page.next })
 */
export interface AlertPage {
  /** The alerts of this page. */
  alerts: AlertInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * Why something is done to an alert, and by whom; both are stored.
 * @example await triarch.alerts.get('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
 */
export interface AlertActOptions {
  /** The reason: up to 1,000 characters. */
  reason: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * Which sinks are tested, why and by whom; both are kept in the audit.
 * @example await triarch.alerts.test({ sink: 'pager', actor: 'ada' })
 */
export interface AlertTestOptions {
  /** The name of one sink; all by default. */
  sink?: string
  /** The reason: up to 1,000 characters. */
  reason?: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * One alert: what it is, and what an operator can do to it.
 * @example const { message, owner } = await triarch.alerts.get('no-agent:mail').info()
 */
export interface AlertHandle {
  /** `rule:subject`. */
  readonly name: string
  /**
   * Its current state. Throws UNKNOWN_ALERT.
   * @example const { phase } = await triarch.alerts.get('no-agent:mail').info()
   */
  info(): Promise<AlertInfo>
  /**
   * Acknowledges it: sinks are not notified again before it ends. Throws UNKNOWN_ALERT if there is none that has not ended,
   * INVALID_OPTION.
   * @example await triarch.alerts.get('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
   */
  acknowledge(options: AlertActOptions): Promise<AlertInfo>
  /**
   * Keeps sinks from being notified that it fires, until then; sinks already notified are still notified of its end. Throws
   * UNKNOWN_ALERT, INVALID_OPTION.
   * @example
   * const until = new Date(Date.now() + 3_600_000)
   * await triarch.alerts.get('no-agent:mail').silence({ reason: 'maintenance', until })
   */
  silence(options: AlertActOptions & { until: Date }): Promise<AlertInfo>
  /**
   * Ends it, whether its condition holds or not; it opens anew only after the condition was gone once. Throws UNKNOWN_ALERT,
   * INVALID_OPTION.
   * @example await triarch.alerts.get('no-agent:mail').end({ reason: 'that agent is no more' })
   */
  end(options: AlertActOptions): Promise<AlertInfo>
}

/**
 * The alerts.
 * @example const { alerts }: AlertPage = await triarch.alerts.list()
 */
export interface AlertCollection {
  /**
   * An alert by its name (`rule:subject`); whether it exists is only checked when it is used. Throws INVALID_OPTION.
   * @example await triarch.alerts.get('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
   */
  get(name: string): AlertHandle

  /**
   * Alerts by name, a page at a time: those that have not ended, including `pending` ones, and those that were ended by hand while their
   * condition still holds; or with `ended` those that have ended. None if no supervisor watches. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { alerts } = await triarch.alerts.list()
   * for (const { name, phase, message } of alerts) console.log(name, phase, message)
   */
  list(options?: AlertsOptions): Promise<AlertPage>

  /**
   * Sends a test notification to one sink of the answering process (`alerts.sinks`, or `log`), or to all of them, at any hour, and returns
   * the result of each; none if that process watches nothing. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION (also if there is
   * no sink of that name).
   * @example
   * for (const { sink, ok, problem } of await triarch.alerts.test()) console.log(sink, ok, problem)
   */
  test(options?: AlertTestOptions): Promise<AlertSinkTrial[]>
}
