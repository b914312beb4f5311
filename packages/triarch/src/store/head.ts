import type { Share } from '../kernel/task/order.ts'
import type { QueueShare } from './work.ts'

/** What waits in several queues of one agent, as far as it is asked who is next among them. */
export interface HeadQuery {
  /** Those of which something may be taken: there are seats. */
  queues: readonly QueueShare[]
  /** Most of each. */
  depth: number
}

/** A request that waits in a queue. */
export interface QueueHead {
  /** The queue. */
  agent: string
  /** By which it stands there. */
  rank: number
  /** Whose it is; null: nobody shares that queue. */
  share: Share | null
}

/** Of which priorities: from the first on, and below the second. */
export function spanOf(ranks: QueueShare['ranks']): [number, number] {
  const all = Number.MAX_SAFE_INTEGER
  if (ranks === undefined) return [-all, all]
  return 'least' in ranks ? [ranks.least, all] : [-all, ranks.below]
}

/** The first characters of a request, in which its share is if it has one: keys have 200, each of which may be written as six. */
export const SHARE_WITHIN = 1_400

/** How the text of a request begins that has a share. */
export const SHARED = '{"share":{'

const SHARE = /^\{"share":(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})/

/** By the beginning of a request's text; null: it has none. */
export function shareOfText(text: string | null): Share | null {
  const found = text === null ? undefined : SHARE.exec(text)?.[1]
  return found === undefined ? null : (JSON.parse(found) as Share)
}
