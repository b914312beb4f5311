import type { AlertNews, AlertSeverity } from '../policy/alert.ts'
import type { QuietHours } from './quiet.ts'

/**
 * What a sink is told of an alert.
 * @example const line = ({ news, severity, message }: AlertNotification) => `${news} ${severity}: ${message}`
 */
export interface AlertNotification {
  /** The same however often it is told: whoever has seen it may drop it. */
  id: string
  /** What is new: it fires, it still does, it has ended; `test`: somebody tries the sink. */
  news: AlertNews | 'test'
  /** The name of the alert, `rule:subject`. */
  name: string
  /** Which opening of it: the same from `raised` to `ended`. */
  opening: string
  /** The rule that found it. */
  rule: string
  /** What it is about: a task, a workflow, an agent, a schedule, a machine, a breaker, a check. */
  subject: string
  /** How bad it is. */
  severity: AlertSeverity
  /** All of it in a sentence. */
  message: string
  /** Since when its condition holds. */
  since: Date
  /** When it was found to be news; of a group, of its first. */
  at: Date
  /** It is about several of the rule, told as one (`group`): its name is `rule:*`, its opening one of its own. Absent: it is about one. */
  group?: AlertGroup
}

/**
 * Alerts of one rule that are told as one.
 * @example const names = ({ count, alerts }: AlertGroup) => `${count}: ${alerts.map(({ name }) => name)}`
 */
export interface AlertGroup {
  /** How many they are. */
  count: number
  /** The first 50 of them. */
  alerts: readonly Pick<AlertNotification, 'name' | 'opening' | 'subject' | 'severity' | 'message' | 'since'>[]
}

/**
 * Where alerts are told. What `send` rejects with is tried again, less and less often, ten times in all.
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
  /** What it is called: letters, digits, `.`, `-`, `_`; 100 characters. Every supervisor of a store has those of the same names. */
  name: string
  /** Tells one; the signal aborts when nobody waits any more. */
  send: (notification: AlertNotification, options: { signal: AbortSignal }) => unknown
  /** When it is left alone; never. */
  quiet?: QuietHours
}

/**
 * What came of a try of a sink.
 * @example const heard = (trials: AlertSinkTrial[]) => trials.every(({ ok }) => ok)
 */
export interface AlertSinkTrial {
  /** Which one. */
  sink: string
  /** It took the notification. */
  ok: boolean
  /** How long that took (ms). */
  ms: number
  /** Why it did not; absent where it did. */
  problem?: string
}
