import type { TaskOutcome } from '../status.ts'

/** What to do when somebody else holds the lock. */
export type IfHeld = 'queue' | 'reject' | 'replace'

/** A lock a task has, or waits for. The task's own keys have the ids 0, -1, …; others the id of the decision. */
export interface Lock {
  name: string
  ifHeld: IfHeld
  until: number | null
  /**
   * `new`: not asked for yet; `lost`: the task stopped meanwhile, and must have it again before it goes on; `reclaimed`: it
   * asked again; `refused`: it asked again in vain.
   */
  standing: 'new' | 'asked' | 'held' | 'lost' | 'reclaimed' | 'refused'
  /** The fencing number of its latest grant; absent: not granted yet. */
  fence?: number
  /** The code knows that it has it: one that was only asked for when the task stopped is news to it, whenever it is granted. */
  told?: true
}

/** A task this one comes after. */
export interface Predecessor {
  on: 'success' | 'end'
  /** Null: it has not stopped yet; `unknown`: the store does not know it (any more). */
  result: TaskOutcome | 'unknown' | null
}

/** Claims and releases that the store is asked for, with the transition that decides them. */
export interface GateRequests {
  locks: { step: number; name: string; ifHeld: IfHeld; parents?: string[] }[]
  /** Locks given back, by the same number. */
  unlocks: number[]
}
