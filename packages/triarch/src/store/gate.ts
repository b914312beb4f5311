import type { IfHeld } from '../kernel/lock/lock.ts'
import type { Operation } from '../kernel/step/step.ts'

/**
 * A claim on a name that one task at a time can hold; `step` numbers the claims of a task. Asked for again, it is the same.
 * The task hears of it by a letter: `granted` now or when its turn comes (the highest priority first, then the order of asking),
 * `held` (reject), `deadlock` (it would wait for itself, or for a parent that waits for it). A transition that takes the task to
 * `stopped` frees what it holds, and asks for nothing. `granted` gives a fencing number, higher than any that was given before.
 */
export interface LockRequest {
  /** The number of the claim in its task. */
  step: number
  /** The name of the lock. */
  name: string
  /** What to do when somebody else holds it. */
  ifHeld: IfHeld
  /** Tasks that wait for the end of this one: its parent, the parent's, and so on. They would wait for the lock too. */
  parents?: readonly string[]
}

/** A claim on a name, as it stands. */
export interface LockRow {
  /** The name of the lock. */
  name: string
  /** The id of the task. */
  task: string
  /** The number of the claim in its task. */
  step: number
  /** Else it waits. */
  held: boolean
  /** When it was had; while it waits, when it was asked for. */
  since: number
  /** Claims before it: the holder's and those before it in line; at most 10,000 are counted. */
  ahead: number
}

/** A name that is held, and who waits for it. */
export interface HeldLock {
  /** The name of the lock. */
  name: string
  /** The id of the task that has it. */
  task: string
  /** When that had it. */
  since: number
  /** The fencing number of its grant; null: a version that gave none granted it. */
  fence: number | null
  /** Claims in line; at most 1,000 are counted. */
  waiting: number
  /** The first five in line; `since`: when they asked. */
  next: { task: string; since: number }[]
}

/** Those in line for one lock are counted no further. */
export const MOST_WAITING = 1_000
/** So many of those in line are named. */
export const FIRST_WAITING = 5

/** Requests for an agent that nobody has taken. */
export interface QueueRow {
  /** The name of the agent. */
  agent: string
  /** How many there are; at most 10,000 are counted. */
  depth: number
  /** The one of them that was made first; null: its task is gone. */
  oldest: { task: string; step: number } | null
}

/** A page of what is listed by name: those behind `after`. */
export interface NamePage {
  /** The name behind which the page begins; '' for the first. */
  after: string
  /** Most rows. */
  limit: number
}

/** What a node can run: `name@version` of its workflows (as a scheduler), `agent.action` (as an agent). */
export interface NodeRuns {
  /** As `name@version`. */
  workflows: readonly string[]
  /** As `agent.action`. */
  actions: readonly string[]
  /** Bytes of history that it takes into memory. */
  memory?: number
  /** Attempts at a time, by agent. */
  slots?: Readonly<Record<string, number>>
  /** Those of them for steps of a high priority, and for the rest, and where it begins, by agent; of the agents that part them. */
  pools?: Readonly<Record<string, { high: number; rest: number; from?: number }>>
  /** What it is told apart by. */
  labels?: Readonly<Record<string, string>>
  /** Versions of settings that it runs, by name; those that the store says nothing of are not named. */
  settings?: Readonly<Record<string, number>>
  /** What it keeps from beginning, as its settings say: agents by name, workflows as `name@version`. The first 1,000. */
  paused?: Readonly<Record<string, PausedThere>>
  /** Where nodes with agents reach it, to be given attempts by it. */
  direct?: { host: string; port: number }
  /** How much it has to do: as it was when it last said so. */
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

/** That one node keeps something from beginning. */
export interface PausedThere {
  /** In the operator's words, as far as they are short. */
  reason: string
  /** The setting that says so, or from which its code makes that. */
  setting: string
  /** Which version of it; 0: the store says nothing of it. */
  version: number
}

/** How much a node has to do, and has room for. */
export interface NodeLoad {
  /** Attempts, by agent. */
  agents: Readonly<Record<string, NodeShare>>
  /** Tasks that it owns; not given: it is no scheduler. */
  tasks?: NodeShare
}

/** Of one kind of work. */
export interface NodeShare {
  /** What it has now. */
  running: number
  /** Room, with what it has. */
  most: number
  /** There would be more, but not for the service that it calls. */
  throttled?: true
  /** So many at most on all nodes together, where concurrency has one bound that all share. */
  shared?: number
  /** What attempts take that do not wait in the service (ms), by operation and action, where concurrency adapts itself. */
  usual?: Readonly<Record<string, number>>
  /** The same of each pool, where its slots are parted. */
  pools?: { high: { running: number; most: number }; rest: { running: number; most: number } }
}

/** Ready tasks of one version of a workflow, which nobody has taken. */
export interface BacklogRow {
  /** The name of the workflow. */
  workflow: string
  /** The version of the workflow. */
  version: string
  /** How many there are; at most 10,000 are counted. */
  depth: number
  /** Since when the one waits, of those that are counted, that was ready first (ms since the epoch). */
  since: number
}

/** A line that is counted: the ready tasks of a workflow, or the requests in an agent's queue and in those of its keys, that nobody has taken. */
export type LineQuery = ({ workflow: string } | { agent: string }) & {
  /** No further than this. */
  count: number
}

/** So many versions of workflows have their ready tasks counted. */
export const MOST_BACKLOGS = 1_000

/** A request in an agent's queue that nobody has taken, by what it waits for. */
export interface ParkedRow {
  /** The id of its task. */
  task: string
  /** The queue that it is in: its agent's, or that of a breaker of one of its keys. */
  queue: string
  /** As `agent.action`. */
  action: string
}

/** So many requests of each task are looked at where many tasks are asked for. */
export const MOST_PARKED = 20

/** Where a task stands in line. */
export interface QueuedRow {
  /** Ready tasks of its workflow and version before it; null: it is not ready. */
  ahead: number | null
  /** Its attempts in the work queues; `ahead`: requests for the same agent before one that nobody has taken. */
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
