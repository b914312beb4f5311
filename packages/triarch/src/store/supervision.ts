import type { ProcessIdentity } from '../environment/environment.ts'
import type { NodeRuns } from './gate.ts'

/** The heartbeat of a node. */
export interface NodeHeartbeat {
  /** The id of the node. */
  id: string
  /** Its roles. */
  roles: readonly string[]
  /** The workflows and actions that it can run; kept until they are given again. */
  runs?: NodeRuns
  /** Set if nothing in `runs` changed but the load, so that other nodes have nothing to act on. */
  again?: true
  /** Lease length in ms. */
  lease: number
  /** The process and the machine; kept until it is given again. */
  place?: ProcessIdentity
}

/** The heartbeat mark of a living node. */
export interface Pulse {
  /** The id of the node. */
  id: string
  /** A text that changes with each heartbeat. */
  mark: string
  /** Length of its lease (ms). */
  lease: number
  /** Its roles. */
  roles: readonly string[]
  /** Whether its lease is over by the store's clock. That alone does not make a node dead. */
  late: boolean
}

/** The living nodes, and who leads. */
export interface NodeHeartbeats {
  /** The store's clock. */
  now: number
  /** The nodes that were not declared dead. */
  nodes: readonly Pulse[]
  /** The node that leads, and how long its term lasts unless it is renewed (ms); null: no node leads. */
  term: { holder: string; left: number } | null
}

/** The request for one sweep of the supervisor. */
export interface SweepRequest {
  /** The name of the leader's lease. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** Most rows that it examines. */
  limit: number
  /**
   * Nodes without a heartbeat for as long as their lease by the supervisor's own clock, with the mark last seen: those
   * that still have this mark are dead, and no others. If absent, the nodes whose lease ended by the store's clock are
   * dead.
   */
  silent?: readonly { id: string; mark: string }[]
  /** How far the store's clock jumped ahead since the last sweep (ms): running attempts get that much more time. */
  shift?: number
  /**
   * The store's clock when the supervisor last read it; what became due later is left to the next sweep, because this
   * one may have waited for a lock while no attempt could send a heartbeat. If absent, the store's clock when the sweep
   * begins.
   */
  until?: number
}

/** The result of a sweep. */
export interface SweepReport {
  /** Ids of nodes that were declared dead. */
  deadNodes: string[]
  /** Released tasks of those nodes, which others may claim now. */
  releasedTasks: number
  /** Queued attempts that were ended: past their complete-by or heartbeat, or their agent's node died. */
  expiredSteps: number
  /** Unowned tasks past their deadline, which any scheduler may claim now. */
  overdueTasks: number
  /** Whether a schedule is due. */
  schedules: boolean
  /** Whether `limit` was reached, so that another sweep should follow at once. */
  more: boolean
}
