import type { TaskOutcome } from '../status.ts'

/** What to do if another task holds the lock. */
export type IfHeld = 'queue' | 'reject' | 'replace'

/** A lock that the task holds or waits for. Locks of the submission have the ids 0, -1, …; others have the id of the decision. */
export interface TaskLock {
  name: string
  ifHeld: IfHeld
  until: number | null
  /**
   * `new`: not requested yet; `lost`: lost when the task stopped, needed again before it goes on; `reclaimed`: requested again; `refused`:
   * the second request was refused.
   */
  standing: 'new' | 'asked' | 'held' | 'lost' | 'reclaimed' | 'refused'
  /** The fencing number of the latest grant; absent: not granted yet. */
  fence?: number
  /** The grant was delivered to the code. A lock that was only requested when the task stopped is delivered whenever it is granted. */
  told?: true
}

/** A task that must stop before this one begins. */
export interface AwaitedPredecessor {
  on: 'success' | 'end'
  /** Null: the predecessor has not stopped yet; `unknown`: the store does not know it (any more). */
  result: TaskOutcome | 'unknown' | null
}

/** Lock requests and releases that the store carries out with the transition that decides them. */
export interface GateRequests {
  locks: { step: number; name: string; ifHeld: IfHeld; parents?: string[] }[]
  /** Locks that are released, by the same number. */
  unlocks: number[]
}
