import type { TriarchError } from '../error/error.ts'
import type { NewTask } from './task.ts'

/** A schedule: what it is and how far it is, as JSON that the store does not read. */
export interface ScheduleRow {
  name: string
  /** Rises with each write. */
  revision: number
  definition: string
  state: string
  /** When it is due; null: never, as it stands. */
  nextAt: number | null
  /** Why it cannot be decoded; its texts are no JSON then. */
  undecoded?: TriarchError
}

/**
 * Written as a whole, with the tasks it starts, or not at all: when the row is at another revision (`expected`; null: there is
 * none yet), or the fencing token is no longer the leader's.
 */
export interface ScheduleWrite extends Omit<ScheduleRow, 'revision'> {
  expected: number | null
  tasks: readonly NewTask[]
  fence: { name: string; token: number } | null
}

/** Those that are due, the longest first; or by name. */
export type ScheduleQuery = { limit: number } & ({ due: number } | { name: string } | { after: string })
