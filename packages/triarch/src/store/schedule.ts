import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'
import type { NewTask } from './task.ts'

/** A schedule: what it is and how far it is, as JSON that the store does not read. */
export interface ScheduleRow {
  /** The name of the schedule. */
  name: string
  /** Rises with each write. */
  revision: number
  /** What it starts and when, as JSON text. */
  definition: string
  /** How far it is, as JSON text. */
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
export interface ScheduleWrite extends Omit<ScheduleRow, 'revision'>, Audited {
  /** The revision that it was read at; null: there was none. */
  expected: number | null
  /** Tasks that it starts. */
  tasks: readonly NewTask[]
  /** The leader's lease and its fencing token; null: whoever writes. */
  fence: { name: string; token: number } | null
}

/** Those that are due, the longest first; or by name. */
export type ScheduleQuery = { limit: number } & ({ due: number } | { name: string } | { after: string })
