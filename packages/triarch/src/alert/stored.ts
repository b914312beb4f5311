import type { AlertNews, AlertState } from '../policy/alert.ts'
import { objectOf } from '../store/legible.ts'
import type { AlertPost } from '../store/port.ts'
import type { AlertGroup, AlertNotification } from './sink.ts'

/** The contents of an alert's row. */
export interface StoredAlert {
  format: 1
  rule: string
  subject: string
  state: AlertState
  /** The names of the notified sinks, so that a process which ends the alert by hand can notify them. */
  sinks: readonly string[]
}

/** The contents of a notification's row, with instants in ms since the epoch, and the number of tries. */
export interface StoredPost extends Omit<AlertNotification, 'id' | 'since' | 'at' | 'group'> {
  format: 1
  since: number
  at: number
  tries: number
  /** The notification was held until the end of quiet hours. */
  held?: true
  group?: { count: number; alerts: (Omit<AlertGroup['alerts'][number], 'since'> & { since: number })[] }
  /** The notifications that this one contains; they are deleted before it is sent. */
  taken?: readonly string[]
}

/** Largest length of an alert's name, and of a notification's message (characters); longer ones are cut. */
const LONGEST = 400
const LONGEST_MESSAGE = 2_000

export function alertName(rule: string, subject: string): string {
  return `${rule}:${subject.slice(0, LONGEST).toWellFormed()}`
}

/** Decodes an alert; null: it cannot be read. */
export function storedAlert(text: string): StoredAlert | null {
  const stored = objectOf<StoredAlert>(text)
  return stored?.format === 1 && typeof stored.state === 'object' && stored.state !== null ? stored : null
}

/** Decodes a notification; null: it cannot be read. */
export function storedPost(text: string): StoredPost | null {
  const stored = objectOf<StoredPost>(text)
  return stored?.format === 1 ? stored : null
}

/** Whether the alert is still evaluated. One that was ended by hand is, until its condition was gone once. */
export function isEvaluated({ phase, goneAt }: AlertState): boolean {
  return phase !== 'ended' || goneAt === null
}

/** Notifications for all sinks. `wait`: how long others may join them (ms). */
export function postsOf(
  { rule, subject, state, sinks }: StoredAlert,
  news: AlertNews | null,
  { now, wait = 0, id }: { now: number; wait?: number; id: () => string },
): AlertPost[] {
  if (news === null) return []
  const { id: opening, severity, message, since } = state
  const said: StoredPost = {
    ...{ format: 1, news, name: alertName(rule, subject), opening, rule, subject, severity },
    ...{ message: message.slice(0, LONGEST_MESSAGE).toWellFormed(), since, at: now, tries: 0 },
  }
  const text = JSON.stringify(said)
  return sinks.map((sink) => ({ id: id(), sink, dueAt: now + wait, state: text }))
}

export function notificationOf(
  id: string,
  { format: _, tries: __, held: ___, taken: ____, since, at, group, ...said }: StoredPost,
): AlertNotification {
  const alerts = group?.alerts.map((one) => ({ ...one, since: new Date(one.since) }))
  return {
    ...{ id, ...said, since: new Date(since), at: new Date(at) },
    ...(group && alerts && { group: { count: group.count, alerts } }),
  }
}
