import type { TriarchError } from '../error/error.ts'
import type { WorkRequest } from './work.ts'

/** One record of a task's history. */
export interface HistoryRecord {
  /** Its place in the history, from 1. */
  seq: number
  /** When it was decided (ms since the epoch). */
  at: number
  /** Its format and its events, as JSON (`record.ts`). */
  events: string
  /** Of one that is encoded in the store: the bytes that it has there, by which readings are bounded. */
  stored?: number
  /** Why it cannot be decoded; its events are no JSON then. */
  undecoded?: TriarchError | undefined
}

/** So many records after this one, up to the one with which their events reach `bytes`. */
export interface ReplayPage {
  /** The record before the page; 0: from the first. */
  after: number
  /** Most records. */
  records: number
  /** Bytes of their events with which a page ends. */
  bytes: number
}

/** The latest record of a task that somebody knows of. */
export interface RecordMark {
  /** The id of the task. */
  id: string
  /** The number of the task in the store. */
  key: number
  /** The place of the record in the history. */
  seq: number
  /** It was queued after that record, by none of its own: a store that lost it has neither it nor an unread reply. */
  request?: Pick<WorkRequest, 'step' | 'operation' | 'attempt'>
}

/** What the store lacks of what it acknowledged. */
export interface LostRecord {
  /** The id of the task. */
  id: string
  /** The last record of the task that there is; null: there is no such task. */
  last: number | null
  /** It is the request that is lost. */
  request?: true
}

/** Which page of a node's tasks. */
export interface OwnedRequest {
  /** The id of the node. */
  node: string
  /** The key of the last one of the page before; 0: the first page. */
  after: number
  /** Most tasks. */
  limit: number
}

/** A task that the node owns, as the store sees it. */
export interface OwnedTask {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** By which it is owned. */
  epoch: number
}
