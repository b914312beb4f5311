import type { Message } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { HistoryRecord } from './history.ts'

/** A node's request to claim tasks. */
export interface ClaimRequest {
  /** The id of the node. */
  node: string
  /** Workflow versions this node can run. */
  runnable: readonly { workflow: string; version: string }[]
  /** Most tasks to claim. */
  limit: number
  /**
   * Given after a claim whose answer was lost: the ids the node knows it owns. Any other task it owns is released
   * first, as orphaned, for itself or others to claim.
   */
  held?: readonly string[]
  /** Most history records in the answer. */
  records?: number
  /** Most bytes of events in the answer. */
  bytes?: number
  /**
   * If true, tasks on probation are claimed first, and with no others: several during whose probation no owner has
   * died, or one of the rest. Without this option a node never gets one.
   */
  trial?: boolean
  /** Keys of tasks that it leaves to others for now. */
  except?: readonly number[]
  /**
   * Each such span (ms) that a task waits counts as one level of priority. Tasks of one priority keep their order, and
   * none counts as waiting for longer than a task before it. Waiting is measured from when the row was last written.
   * The 100 highest priorities of each workflow version take part.
   */
  ageing?: number
}

/**
 * Default bounds of an answer to a claim. `letters`, `letterBytes`: messages of each task; `trials`: tasks on probation
 * that are claimed together.
 */
export const CLAIM_BOUNDS: Readonly<Record<'records' | 'bytes' | 'letters' | 'letterBytes' | 'trials', number>> = {
  records: 20_000,
  bytes: 8 * 1024 * 1024,
  trials: 8,
  letters: 200,
  letterBytes: 1024 * 1024,
}

/** Most priorities of one workflow version that are considered when waiting raises the priority. */
export const MOST_LEVELS = 100

/** A task that the node owns now, with what it needs to continue it. */
export interface Claim {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** The fence: what the owner writes carries it. */
  epoch: number
  /** The previous owner did not release it: its in-process attempts are lost. */
  orphaned: boolean
  /** Record 1, then those from the last `continuedAsNew` on. */
  records: HistoryRecord[]
  /** Set if there are more records than these: the bytes of all. */
  rest?: number
  /** Messages that wait for it, oldest first. */
  letters: InboxMessage[]
  /** Set if there are more messages than these. */
  unread?: true
  /** Set if it is on probation; `strikes`: owners that died while it was. */
  trial?: { strikes: number }
  /** Set on the last task of an answer if more are ready. */
  more?: true
  /** Attempts outstanding in work queues. */
  work: { step: number; operation: Operation; attempt: number }[]
}

/** Bounds for reading messages: the message that reaches a bound is the last. */
export interface TaskInboxBounds {
  /** Most messages. */
  limit: number
  /** Most bytes. */
  bytes: number
}

/** Bounds for reading the inbox of a node. */
export interface InboxBounds {
  /** Most bytes: the message that reaches them is the last. */
  bytes?: number
  /** Reads not the oldest messages of all, but the oldest of each task, by key: tasks above `after` without those of `skip`. */
  each?: TaskInboxBounds & { after: number; skip: readonly number[] }
  /**
   * Ids of messages that the caller has already: when the oldest of all are read they count for the bounds but are left
   * out of the answer, except the last message if there are more.
   */
  held?: readonly number[]
}

/** Default for the bytes of messages that are read at once. */
export const INBOX_BYTES: number = 8 * 1024 * 1024

/** A message that waits for its task. */
export interface InboxMessage {
  /** Inbox id. */
  id: number
  /** The number of the task in the store. */
  key: number
  /** The message. */
  message: Message
  /** Set on the last message of an answer if a bound kept others out. */
  more?: true
}

/** A node's request to poll: the workflows and actions that it can run, and the lease of the leader. */
export interface PollRequest extends Pick<ClaimRequest, 'node' | 'runnable'> {
  /** The actions of its agents. */
  actions: readonly string[]
  /** The name of the leader's lease. */
  lease: string
}

/** The answer to a poll, as of the store's time `now`. A caller may act on it but must not rely on it. */
export interface PollResult {
  /** The store's clock (ms since the epoch). */
  now: number
  /** There are messages for tasks of this node. */
  mail: boolean
  /** A task that it may claim is ready, or a sleeping task is due. */
  tasks: boolean
  /** A request for one of its actions waits. */
  work: boolean
  /** No node leads. */
  vacant: boolean
  /**
   * The earliest wake-up of a sleeping task, given to the node that leads, and to all while no node does; other nodes
   * wake only the tasks that they put to sleep.
   */
  nextWake: number | null
  /** How many nodes are alive. */
  living: number
  /** A text that changes with each change of any setting. */
  settings: string
  /** There are rows of cooldowns that services asked for. */
  rests: boolean
}
