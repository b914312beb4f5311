import type { FairShare } from '../kernel/task/order.ts'
import type { QueueShare } from './work.ts'

/** A query for the first requests of several queues of one agent, to decide which queue is next. */
export interface HeadQuery {
  /** Queues of which requests may be taken: their permits are not used up. */
  queues: readonly QueueShare[]
  /** Most requests of each queue. */
  depth: number
}

/** A request that waits in a queue. */
export interface QueueHead {
  /** The queue. */
  agent: string
  /** Its priority in the queue. */
  rank: number
  /** The tenant or key it counts for; null if the queue is not shared. */
  share: FairShare | null
}

/** Returns the range of priorities: from the first number on, and below the second. */
export function spanOf(ranks: QueueShare['ranks']): [number, number] {
  const all = Number.MAX_SAFE_INTEGER
  if (ranks === undefined) return [-all, all]
  return 'least' in ranks ? [ranks.least, all] : [-all, ranks.below]
}

/**
 * How many characters at the beginning of a request contain its share, if it has one: a key has at most 200 characters,
 * each of which may be written as six.
 */
export const SHARE_WITHIN = 1_400

/** The beginning of the text of a request that has a share. */
export const SHARED = '{"share":{'

const SHARE = /^\{"share":(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})/

/** Reads the share from the beginning of a request's text; null if it has none. */
export function shareOfText(text: string | null): FairShare | null {
  const found = text === null ? undefined : SHARE.exec(text)?.[1]
  return found === undefined ? null : (JSON.parse(found) as FairShare)
}
