import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'
import type { NewTask } from './task.ts'

/** A schedule: its definition and its state, as JSON that the store does not read. */
export interface ScheduleRow {
  /** The name of the schedule. */
  name: string
  /** Rises with each write. */
  revision: number
  /** The task that it starts, and when, as JSON text. */
  definition: string
  /** Its progress, as JSON text. */
  state: string
  /** When it is due; null: never, in its present state. */
  nextAt: number | null
  /** Why it cannot be decoded; then its texts are not JSON. */
  undecoded?: TriarchError
}

/**
 * A write of a schedule together with the tasks it starts. Nothing is written if the row has another revision than
 * `expected`, or the fencing token is no longer the leader's.
 */
export interface ScheduleWrite extends Omit<ScheduleRow, 'revision'>, Audited {
  /** The revision at which it was read; null: there was no row. */
  expected: number | null
  /** The tasks that it starts. */
  tasks: readonly NewTask[]
  /** The leader's lease and its fencing token; null: the writer need not lead. */
  fence: { name: string; token: number } | null
}

/** Selects schedules that are due, the longest due first; one by name; or a page behind a name. */
export type ScheduleQuery = { limit: number } & ({ due: number } | { name: string } | { after: string })
