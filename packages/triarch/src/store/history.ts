import type { TriarchError } from '../error/error.ts'
import type { WorkRequest } from './work.ts'

/** One record of a task's history. */
export interface HistoryRecord {
  /** Its number in the history, from 1. */
  seq: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** Its format and its events, as JSON (`record.ts`). */
  events: string
  /** If the record is encoded in the store: its bytes there, which count for the bounds of a read. */
  stored?: number
  /** Why it cannot be decoded; then its events are not JSON. */
  undecoded?: TriarchError | undefined
}

/** A page of a history: records after `after`, up to the one with which their events reach `bytes`. */
export interface ReplayPage {
  /** The record before the page; 0 for the first page. */
  after: number
  /** Most records. */
  records: number
  /** Bytes of their events with which a page ends. */
  bytes: number
}

/** The latest record of a task that a process knows of. */
export interface RecordMark {
  /** The id of the task. */
  id: string
  /** The number of the task in the store. */
  key: number
  /** The number of the record in the history. */
  seq: number
  /**
   * A request that was queued after that record without a record of its own: a store that lost it has neither the
   * request nor an unread reply.
   */
  request?: Pick<WorkRequest, 'step' | 'operation' | 'attempt'>
}

/** Something that the store acknowledged and no longer has. */
export interface LostRecord {
  /** The id of the task. */
  id: string
  /** The last record that the task has; null if there is no such task. */
  last: number | null
  /** Set if the request is lost. */
  request?: true
}

/** Selects a page of a node's tasks. */
export interface OwnedRequest {
  /** The id of the node. */
  node: string
  /** The last key of the previous page; 0 for the first page. */
  after: number
  /** Most tasks. */
  limit: number
}

/** A task that the node owns according to the store. */
export interface OwnedTask {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** The epoch of this ownership. */
  epoch: number
}
