import type { Place } from '../environment/environment.ts'
import type { NodeRuns } from './gate.ts'

/** A sign of life of a node. */
export interface NodeHeartbeat {
  /** The id of the node. */
  id: string
  /** Its roles. */
  roles: readonly string[]
  /** What it can run; kept until it is given again. */
  runs?: NodeRuns
  /** It said all of `runs` before but for its load: there is nothing in it that others act on. */
  again?: true
  /** Lease length in ms. */
  lease: number
  /** Which process of which machine it is; kept until it is given again. */
  place?: Place
}

/** A living node's beats. */
export interface Pulse {
  /** The id of the node. */
  id: string
  /** Another with each beat. */
  mark: string
  /** Length of its lease (ms). */
  lease: number
  /** Its roles. */
  roles: readonly string[]
  /** By the store's clock its lease is over. Nobody is dead for that alone. */
  late: boolean
}

/** The living nodes, and who leads. */
export interface NodeHeartbeats {
  /** The store's clock. */
  now: number
  /** Those that were not declared dead. */
  nodes: readonly Pulse[]
  /** Who leads, and for how long if the term is not renewed (ms); null: nobody. */
  term: { holder: string; left: number } | null
}

/** One round of the supervisor's. */
export interface SweepRequest {
  /** The lease by which it leads. */
  name: string
  /** The fencing token of that lease. */
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
  /**
   * The store's clock when the supervisor last read it: what became due after that is for the next sweep. This one may have waited for a lock,
   * during which nobody could say that an attempt goes on. Not given: the store's clock when the sweep begins.
   */
  until?: number
}

/** What a sweep of the supervisor recovered. */
export interface SweepReport {
  /** Ids of nodes that were taken for dead. */
  deadNodes: string[]
  /** Tasks of those nodes, which others may claim now. */
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
