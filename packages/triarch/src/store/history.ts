import type { TriarchError } from '../error/error.ts'
import type { WorkRequest } from './work.ts'

export interface HistoryRecord {
  seq: number
  at: number
  /** JSON array of events. */
  events: string
  /** Of one that is encoded in the store: the bytes that it has there, by which readings are bounded. */
  stored?: number
  /** Why it cannot be decoded; its events are no JSON then. */
  undecoded?: TriarchError | undefined
}

/** So many records after this one, up to the one with which their events reach `bytes`. */
export interface ReplayPage {
  after: number
  records: number
  bytes: number
}

/** The latest record of a task that somebody knows of. */
export interface RecordMark {
  id: string
  key: number
  seq: number
  /** It was queued after that record, by none of its own: a store that lost it has neither it nor its reply, nor a record since. */
  request?: Pick<WorkRequest, 'step' | 'operation' | 'attempt'>
}

export interface LostRecord {
  id: string
  /** The last record of the task that there is; null: there is no such task. */
  last: number | null
  /** It is the request that is lost. */
  request?: true
}

export interface OwnedRequest {
  node: string
  after: number
  limit: number
}

export interface OwnedTask {
  key: number
  id: string
  epoch: number
}
