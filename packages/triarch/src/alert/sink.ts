import type { AlertNews, AlertSeverity } from '../policy/alert.ts'
import type { QuietHours } from './quiet.ts'

/**
 * A notification about an alert.
 * @example const line = ({ news, severity, message }: AlertNotification) => `${news} ${severity}: ${message}`
 */
export interface AlertNotification {
  /** The same each time the notification is sent, so that a receiver can drop duplicates. */
  id: string
  /** The kind: the alert fires, still fires, or has ended; `test`: a test of the sink. */
  news: AlertNews | 'test'
  /** The name of the alert, `rule:subject`. */
  name: string
  /** The id of this opening of the alert, the same from `raised` to `ended`. */
  opening: string
  /** The rule that found it. */
  rule: string
  /** The subject: a task, a workflow, an agent, a schedule, a machine, a breaker, a check. */
  subject: string
  /** The severity. */
  severity: AlertSeverity
  /** The alert as a sentence. */
  message: string
  /** Since when its condition has held. */
  since: Date
  /** When the notification was created; of a group, the first one. */
  at: Date
  /** Set if it combines several alerts of the rule (`group`): its name is `rule:*`, its opening an id of its own. */
  group?: AlertGroup
}

/**
 * Alerts of one rule in one notification.
 * @example const names = ({ count, alerts }: AlertGroup) => `${count}: ${alerts.map(({ name }) => name)}`
 */
export interface AlertGroup {
  /** Number of alerts. */
  count: number
  /** The first 50 of them. */
  alerts: readonly Pick<AlertNotification, 'name' | 'opening' | 'subject' | 'severity' | 'message' | 'since'>[]
}

/**
 * A receiver of alerts. If `send` rejects, it is called again at growing intervals, ten times in all.
 * @example
 * const pager: AlertSink = {
 *   name: 'pager',
 *   send: async ({ message }, { signal }) => {
 *     const call = { method: 'POST', body: message, signal }
 *     const { ok } = await fetch('https://pager.example.com/', call)
 *     if (!ok) throw new Error('the pager is ill')
 *   },
 * }
 */
export interface AlertSink {
  /** Its name: letters, digits, `.`, `-`, `_`; 100 characters. All supervisors of a store must have sinks of the same names. */
  name: string
  /** Sends a notification. The signal aborts when the result is not awaited any more. */
  send: (notification: AlertNotification, options: { signal: AbortSignal }) => unknown
  /** When it is not notified; never. */
  quiet?: QuietHours
}

/**
 * The result of a test of a sink.
 * @example const heard = (trials: AlertSinkTrial[]) => trials.every(({ ok }) => ok)
 */
export interface AlertSinkTrial {
  /** The name of the sink. */
  sink: string
  /** Whether it accepted the notification. */
  ok: boolean
  /** The duration (ms). */
  ms: number
  /** The problem; absent if it accepted. */
  problem?: string
}
