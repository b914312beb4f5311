import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'

/** What the store has of one subject of one rule. */
export interface AlertRow {
  /** Which rule's, and of what. */
  name: string
  /** Rises with each write. */
  revision: number
  /** It has not ended. */
  open: boolean
  /** When it was written last, by the store's clock (ms since the epoch). */
  at: number
  /** What it is, as JSON text. */
  state: string
  /** Why it cannot be decoded; its text is no JSON then. */
  undecoded?: TriarchError
}

/** These; those that are open or have ended, by name; those that ended before an instant, the longest ended first. */
export type AlertQuery =
  | { names: readonly string[] }
  | { open: boolean; after: string; limit: number }
  | { endedBefore: number; limit: number }

/** What one sink is still to be told. */
export interface AlertPost {
  /** The same however often it is tried. */
  id: string
  /** The name of the sink. */
  sink: string
  /** When it is tried, or tried again (ms since the epoch). */
  dueAt: number
  /** What is said, and how often that failed, as JSON text. */
  state: string
  /** Why it cannot be decoded; its text is no JSON then. */
  undecoded?: TriarchError
}

/** The leader's lease and its fencing token; null: whoever writes. */
export type AlertFence = { name: string; token: number } | null

/** An alert with what is to be told of it: both or neither. */
export interface AlertWrite extends Omit<AlertRow, 'revision' | 'state' | 'undecoded'>, Audited {
  /** The revision it was read at; 0: there was no row. */
  expected: number
  /** As JSON text; null: drops the row. */
  state: string | null
  /** What the sinks are to be told; those that are there already, not again. */
  posts: readonly AlertPost[]
  /** By whose word. */
  fence: AlertFence
}

/** What was to be told and is due: the longest due first. */
export interface AlertPostQuery {
  /** Up to then (ms since the epoch). */
  due: number
  /** Most rows. */
  limit: number
}

/** What became of telling. */
export interface AlertSettlement {
  /** Of which post. */
  id: string
  /** When it is tried again (ms since the epoch), and what is said then; null: it is done with. */
  next: Pick<AlertPost, 'dueAt' | 'state'> | null
  /** By whose word. */
  fence: AlertFence
}

/** What a store does for alerts. */
export interface AlertStore {
  /** Alerts, open and ended. */
  alerts(query: AlertQuery): Promise<AlertRow[]>
  /** False: it was at another revision, or the token is no longer the leader's; nothing was written. */
  writeAlert(write: AlertWrite): Promise<boolean>
  /** What sinks are still to be told. */
  alertPosts(query: AlertPostQuery): Promise<AlertPost[]>
  /** False: there is no such post any more, or the token is no longer the leader's. */
  settleAlertPost(settlement: AlertSettlement): Promise<boolean>
}
