import type { Message } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { HistoryRecord } from './history.ts'

/** What a node would take. */
export interface ClaimRequest {
  /** The id of the node. */
  node: string
  /** Workflow versions this node can run. */
  runnable: readonly { workflow: string; version: string }[]
  /** Most tasks. */
  limit: number
  /**
   * Given after a claim whose answer was lost: the ids the node knows it owns. What it owns besides is released first, as
   * orphaned, for itself or others to claim.
   */
  held?: readonly string[]
  /** Bounds of the answer: history records, and bytes of their events. */
  records?: number
  /** Bytes of their events. */
  bytes?: number
  /**
   * Tasks under suspicion, if there are any, come first and with no others: a few that no owner died of while it tried them,
   * or one of the rest. Who does not ask for it never gets one.
   */
  trial?: boolean
  /** Keys of tasks that it leaves to others for now. */
  except?: readonly number[]
  /**
   * Each such span (ms) that a task waits is worth one level of priority. Those of one priority stand as without, and none counts as waiting
   * for longer than who stands before it: since its row was last written. The 100 highest priorities of each workflow version take part.
   */
  ageing?: number
}

/** Of an answer to a claim, when not given; letters of each task; `trials`: tasks under suspicion that are tried together. */
export const CLAIM_BOUNDS: Readonly<Record<'records' | 'bytes' | 'letters' | 'letterBytes' | 'trials', number>> = {
  records: 20_000,
  bytes: 8 * 1024 * 1024,
  trials: 8,
  letters: 200,
  letterBytes: 1024 * 1024,
}

/** So many priorities of one line are told apart where it ages. */
export const MOST_LEVELS = 100

/** A task that the node owns now, with what it needs to go on with it. */
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
  /** The owner before did not hand it back: its in-process attempts are lost. */
  orphaned: boolean
  /** Record 1, then those from the last `continuedAsNew` on. */
  records: HistoryRecord[]
  /** These are not all the records there are: bytes of all. */
  rest?: number
  /** Messages that wait for it, oldest first. */
  letters: InboxMessage[]
  /** These are not all the letters there are. */
  unread?: true
  /** It is under suspicion; `strikes`: owners that died while they had it on trial. */
  trial?: { strikes: number }
  /** Of the last one of an answer: more are ready. */
  more?: true
  /** Attempts outstanding in work queues. */
  work: { step: number; operation: Operation; attempt: number }[]
}

/** Bounds of letters: the one that reaches either is the last. */
export interface TaskInboxBounds {
  /** How many. */
  limit: number
  /** Bytes of their messages. */
  bytes: number
}

/** Bounds of one reading of an inbox. */
export interface InboxBounds {
  /** The letter that reaches it is the last. */
  bytes?: number
  /** Not the oldest of all, but the oldest of each task, by keys: those above `after` without `skip`. */
  each?: TaskInboxBounds & { after: number; skip: readonly number[] }
  /** At hand where it is asked: of the oldest of all they count for the bounds, but are not told, save the last one if there are more. */
  held?: readonly number[]
}

/** Bytes of messages in one reading of an inbox, when not given. */
export const INBOX_BYTES: number = 8 * 1024 * 1024

/** A message that waits for its task. */
export interface InboxMessage {
  /** Inbox id. */
  id: number
  /** The number of the task in the store. */
  key: number
  /** What it says. */
  message: Message
  /** Of the last one of a reading: a bound kept others out. */
  more?: true
}

/** What a node that looks can run, and where leadership is decided. */
export interface PollRequest extends Pick<ClaimRequest, 'node' | 'runnable'> {
  /** Those of its agents. */
  actions: readonly string[]
  /** The name of the lease by which somebody leads. */
  lease: string
}

/** Hints as good as they were at the store's instant `now`. */
export interface PollResult {
  /** The store's clock (ms since the epoch). */
  now: number
  /** Letters for tasks of this node. */
  mail: boolean
  /** A task that it may claim is ready, or a sleeper is due. */
  tasks: boolean
  /** A request for one of its actions waits. */
  work: boolean
  /** Nobody leads. */
  vacant: boolean
  /** The earliest wake-up of a sleeper, for the node that leads, or while nobody does: others wake what they put to sleep. */
  nextWake: number | null
  /** Nodes that live. */
  living: number
  /** Another one after each change of any setting. */
  settings: string
  /** Services asked to be left alone for a while: there are rows of that. */
  rests: boolean
}
