import type { IfHeld } from '../kernel/lock/lock.ts'
import type { Operation } from '../kernel/step/step.ts'

/**
 * A request for a lock, which one task at a time can hold; `step` numbers the requests of a task. Repeating a request
 * changes nothing. The task gets the result as a message: `granted` at once or when its turn comes (the highest
 * priority first, then the order of requests), `held` (`reject`), or `deadlock` (it would wait for itself, or for a
 * parent that waits for it). A transition that takes the task to `stopped` frees what it holds and requests nothing.
 * `granted` carries a fencing number, higher than any given before.
 */
export interface LockRequest {
  /** The number of the request in its task. */
  step: number
  /** The name of the lock. */
  name: string
  /** What to do when another task holds it. */
  ifHeld: IfHeld
  /** Tasks that wait for the end of this one: its parent, the parent's parent, and so on. They would wait for the lock too. */
  parents?: readonly string[]
}

/** A lock request and its state. */
export interface LockRow {
  /** The name of the lock. */
  name: string
  /** The id of the task. */
  task: string
  /** The number of the request in its task. */
  step: number
  /** True if the task holds the lock, false if it waits. */
  held: boolean
  /** When the lock was granted; while the request waits, when it was made. */
  since: number
  /** Requests before it: the holder's and those before it in line; at most 10,000 are counted. */
  ahead: number
}

/** A held lock, and which tasks wait for it. */
export interface HeldLock {
  /** The name of the lock. */
  name: string
  /** The id of the task that holds it. */
  task: string
  /** When that task got it. */
  since: number
  /** The fencing number of its grant; null if a version that gave none granted it. */
  fence: number | null
  /** Waiting requests; at most 1,000 are counted. */
  waiting: number
  /** The first five that wait; `since`: when they made the request. */
  next: { task: string; since: number }[]
}

/** Most requests for one lock that are counted. */
export const MOST_WAITING = 1_000
/** How many of the waiting tasks are named. */
export const FIRST_WAITING = 5

/** Requests for an agent that no node has taken. */
export interface QueueRow {
  /** The name of the agent. */
  agent: string
  /** The number of them; at most 10,000 are counted. */
  depth: number
  /** The oldest of them; null if its task is gone. */
  oldest: { task: string; step: number } | null
}

/** A page of a list by name: the rows behind `after`. */
export interface NamePage {
  /** The name behind which the page begins; '' for the first page. */
  after: string
  /** Most rows. */
  limit: number
}

/** The workflows and actions that a node can run, and how it is set up and loaded. */
export interface NodeRuns {
  /** Workflows, as `name@version`. */
  workflows: readonly string[]
  /** Actions, as `agent.action`. */
  actions: readonly string[]
  /** Bytes of history that it holds in memory. */
  memory?: number
  /** Attempts that run at a time, by agent. */
  slots?: Readonly<Record<string, number>>
  /**
   * How the slots of an agent are split: the number for steps of a high priority, the number for the rest, and the
   * priority at which `high` begins; only for agents that split them.
   */
  pools?: Readonly<Record<string, { high: number; rest: number; from?: number }>>
  /** Labels by which it is identified. */
  labels?: Readonly<Record<string, string>>
  /** Versions of settings that it uses, by name; settings that are not in the store are left out. */
  settings?: Readonly<Record<string, number>>
  /** Agents and workflows that it has paused according to its settings: agents by name, workflows as `name@version`. The first 1,000. */
  paused?: Readonly<Record<string, PausedThere>>
  /** The address at which nodes with agents connect to it for attempts. */
  direct?: { host: string; port: number }
  /** Its load when it last reported. */
  load?: NodeLoad
  /** Nodes whose processes this one found dead when it started, and those that they had found: the newest 100. */
  buried?: readonly BuriedNode[]
}

/** A node that a starting process of the same machine found dead, before its lease ended. */
export interface BuriedNode {
  /** The id of the node. */
  id: string
  /** The name of its machine. */
  host: string
  /** When it was found dead, by the store's clock (ms since the epoch). */
  at: number
}

/** Why one node has paused something. */
export interface PausedThere {
  /** The operator's reason, if it is short enough. */
  reason: string
  /** The setting that pauses it, or from which its code derives that. */
  setting: string
  /** The version of that setting; 0 if it is not in the store. */
  version: number
}

/** The load and the capacity of a node. */
export interface NodeLoad {
  /** Attempts, by agent. */
  agents: Readonly<Record<string, NodeShare>>
  /** Tasks that it owns; absent if it is no scheduler. */
  tasks?: NodeShare
}

/** Load and capacity for one kind of work. */
export interface NodeShare {
  /** How many run now. */
  running: number
  /** Capacity, including those that run. */
  most: number
  /** Set if only the called service keeps the capacity from being higher. */
  throttled?: true
  /** The limit over all nodes together, where concurrency has a shared limit. */
  shared?: number
  /** The usual duration of attempts that do not wait in the service (ms), by operation and action, where concurrency is adaptive. */
  usual?: Readonly<Record<string, number>>
  /** The same for each pool, where the slots are split. */
  pools?: { high: { running: number; most: number }; rest: { running: number; most: number } }
}

/** Ready tasks of one version of a workflow, which no node has taken. */
export interface BacklogRow {
  /** The name of the workflow. */
  workflow: string
  /** The version of the workflow. */
  version: string
  /** The number of them; at most 10,000 are counted. */
  depth: number
  /** Since when the one that became ready first waits, of those that are counted (ms since the epoch). */
  since: number
}

/**
 * Selects what is counted: the ready tasks of a workflow, or the requests in an agent's queue and in those of its keys,
 * that no node has taken.
 */
export type LineQuery = ({ workflow: string } | { agent: string }) & {
  /** Counting stops at this number. */
  count: number
}

/** Most versions of workflows whose ready tasks are counted. */
export const MOST_BACKLOGS = 1_000

/** A request in an agent's queue that no node has taken, by what it waits for. */
export interface ParkedRow {
  /** The id of its task. */
  task: string
  /** The queue that it is in: its agent's, or that of a breaker of one of its keys. */
  queue: string
  /** The action, as `agent.action`. */
  action: string
}

/** Most requests of each task that are examined when many tasks are asked for. */
export const MOST_PARKED = 20

/** The position of a task among those that wait. */
export interface QueuedRow {
  /** Ready tasks of its workflow and version before it; null if it is not ready. */
  ahead: number | null
  /** Its attempts in the work queues; `ahead`: requests for the same agent before it, if no node has taken it. */
  work: {
    step: number
    operation: Operation
    attempt: number
    action: string
    /** The queue that it is in: its agent's, or that of a breaker of one of its keys. */
    queue: string
    node: string | null
    completeBy: number | null
    ahead: number
  }[]
}
