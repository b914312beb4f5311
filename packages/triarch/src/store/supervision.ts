import type { Place } from '../environment/environment.ts'
import type { NodeRuns } from './gate.ts'

export interface NodeBeat {
  id: string
  roles: readonly string[]
  /** What it can run; kept until it is given again. */
  runs?: NodeRuns
  /** Lease length in ms. */
  lease: number
  /** Which process of which machine it is; kept until it is given again. */
  place?: Place
}

/** A living node's beats. */
export interface Pulse {
  id: string
  /** Another with each beat. */
  mark: string
  /** Length of its lease (ms); null: it does not say (nodes of before schema 9). */
  lease: number | null
  roles: readonly string[]
  /** By the store's clock its lease is over. Nobody is dead for that alone. */
  late: boolean
}

export interface Pulses {
  /** The store's clock. */
  now: number
  nodes: readonly Pulse[]
  /** Who leads, and for how long if the term is not renewed (ms); null: nobody. */
  term: { holder: string; left: number } | null
}

export interface SweepRequest {
  name: string
  token: number
  /** Rows it looks at. */
  limit: number
  /**
   * Nodes that were silent for as long as their lease by the supervisor's own clock, with the mark last seen: they are
   * dead if it still is the same, and nobody else is. Not given: whose lease ended by the store's clock is dead.
   */
  silent?: readonly { id: string; mark: string }[]
  /** How far the store's clock leapt ahead since the last sweep (ms): attempts that run get that much more time. */
  shift?: number
}

export interface SweepReport {
  deadNodes: string[]
  releasedTasks: number
  /** Queued attempts given up: past their complete-by or heartbeat, or their agent's node died. */
  expiredSteps: number
  /** Unowned tasks past their deadline, made claimable by any scheduler. */
  overdueTasks: number
  /** Whether a schedule is due. */
  schedules: boolean
  /** True when `limit` was reached and another sweep should follow at once. */
  more: boolean
}
