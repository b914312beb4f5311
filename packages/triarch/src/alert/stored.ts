import type { AlertNews, AlertState } from '../policy/alert.ts'
import { objectOf } from '../store/legible.ts'
import type { AlertPost } from '../store/port.ts'
import type { AlertGroup, AlertNotification } from './sink.ts'

/** What the row of an alert holds. */
export interface StoredAlert {
  format: 1
  rule: string
  subject: string
  state: AlertState
  /** Who is told, so that whoever ends it by hand knows them. */
  sinks: readonly string[]
}

/** What the row of a post holds: a notification, whose instants are ms since the epoch, and how often it was tried. */
export interface StoredPost extends Omit<AlertNotification, 'id' | 'since' | 'at' | 'group'> {
  format: 1
  since: number
  at: number
  tries: number
  /** It waited for the end of quiet hours. */
  held?: true
  group?: { count: number; alerts: (Omit<AlertGroup['alerts'][number], 'since'> & { since: number })[] }
  /** The posts that are told with it: they are dropped before it is told. */
  taken?: readonly string[]
}

/** Characters of an alert's name, and of what a sink is told of it: what is longer is cut. */
const LONGEST = 400
const LONGEST_MESSAGE = 2_000

export function alertName(rule: string, subject: string): string {
  return `${rule}:${subject.slice(0, LONGEST).toWellFormed()}`
}

/** Null: it cannot be read. */
export function storedAlert(text: string): StoredAlert | null {
  const stored = objectOf<StoredAlert>(text)
  return stored?.format === 1 && typeof stored.state === 'object' && stored.state !== null ? stored : null
}

/** Null: it cannot be read. */
export function storedPost(text: string): StoredPost | null {
  const stored = objectOf<StoredPost>(text)
  return stored?.format === 1 ? stored : null
}

/** It is looked at yet: also one that was ended by hand, until its condition was gone once. */
export function isOpen({ phase, goneAt }: AlertState): boolean {
  return phase !== 'ended' || goneAt === null
}

/** One for each sink. `wait`: for how long others may join it (ms). */
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
