import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'

/** The stored alert of one subject of one rule. */
export interface AlertRow {
  /** The name of the rule and of the subject. */
  name: string
  /** Rises with each write. */
  revision: number
  /** Whether it has not ended. */
  open: boolean
  /** When it was last written, by the store's clock (ms since the epoch). */
  at: number
  /** The alert, as JSON text. */
  state: string
  /** Why it cannot be decoded; then its text is not JSON. */
  undecoded?: TriarchError
}

/** Selects alerts by name; open or ended ones, by name; or those that ended before an instant, the longest ended first. */
export type AlertQuery =
  | { names: readonly string[] }
  | { open: boolean; after: string; limit: number }
  | { endedBefore: number; limit: number }

/** A notification that a sink has still to get. */
export interface AlertPost {
  /** Its id, the same for each try. */
  id: string
  /** The name of the sink. */
  sink: string
  /** When it is tried, or tried again (ms since the epoch). */
  dueAt: number
  /** The notification and the number of failures, as JSON text. */
  state: string
  /** Why it cannot be decoded; then its text is not JSON. */
  undecoded?: TriarchError
}

/** The leader's lease and its fencing token; null: the writer need not lead. */
export type AlertFence = { name: string; token: number } | null

/** A write of an alert together with its notifications: both or neither. */
export interface AlertWrite extends Omit<AlertRow, 'revision' | 'state' | 'undecoded'>, Audited {
  /** The revision at which it was read; 0: there was no row. */
  expected: number
  /** The new state, as JSON text; null: deletes the row. */
  state: string | null
  /** Notifications to add, except those that are there already. */
  posts: readonly AlertPost[]
  /** The fence of the writer. */
  fence: AlertFence
}

/** Selects notifications that are due, the longest due first. */
export interface AlertPostQuery {
  /** Due up to this instant (ms since the epoch). */
  due: number
  /** Most rows. */
  limit: number
}

/** The outcome of sending a notification. */
export interface AlertSettlement {
  /** The id of the notification. */
  id: string
  /** When it is tried again (ms since the epoch), and its new state; null: it is done. */
  next: Pick<AlertPost, 'dueAt' | 'state'> | null
  /** The fence of the writer. */
  fence: AlertFence
}

/** The calls of a store for alerts. */
export interface AlertStore {
  /** Returns alerts, open and ended. */
  alerts(query: AlertQuery): Promise<AlertRow[]>
  /** Writes an alert. Returns false if it has another revision, or the token is no longer the leader's; then nothing was written. */
  writeAlert(write: AlertWrite): Promise<boolean>
  /** Returns notifications that sinks have still to get. */
  alertPosts(query: AlertPostQuery): Promise<AlertPost[]>
  /** Records the outcome of a notification. Returns false if it no longer exists, or the token is no longer the leader's. */
  settleAlertPost(settlement: AlertSettlement): Promise<boolean>
}
