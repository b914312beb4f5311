// What goes wrong, as data. Every draw is a hash of what the request *is* (seed, service, key, how often it has come),
// never of when it comes, so one seed gives the same faults on a fast machine and on a slow one.
import { hash } from 'node:crypto'

/** What can happen to a request whose caller did nothing wrong. */
export type Fault =
  | 'error' // 500, nothing was done
  | 'busy' // 503 with Retry-After, nothing was done
  | 'hang' // never answers, nothing is ever done
  | 'lost' // done, but the connection breaks before the answer
  | 'mute' // done, but never answers
  | 'slow' // done, and answers late
  | 'ill' // 503, nothing was done: the whole service is ill for a while

/** The share of requests each fault takes; what is left of 1 goes well. */
export type Odds = Partial<Record<Fault, number>>

export interface Profile {
  action: Odds
  undo: Odds
  lookup: Odds
  /** A key's first receipts may go wrong, later ones never do: whoever keeps trying gets through. */
  faultyReceipts: number
  /** Permanent refusals: the share of orders that each service will not serve, however often it is asked. */
  refusals: Record<string, number>
}

export const rough: Profile = {
  action: { error: 0.06, busy: 0.04, hang: 0.02, lost: 0.03, mute: 0.02, slow: 0.08 },
  undo: { error: 0.06, busy: 0.04, hang: 0.02, lost: 0.03, mute: 0.02, slow: 0.08 },
  lookup: { error: 0.03, busy: 0.02, slow: 0.05 },
  faultyReceipts: 3,
  refusals: { payment: 0.06, stock: 0.04, shipping: 0.03, mail: 0.03 },
}

export const calm: Profile = { action: {}, undo: {}, lookup: {}, faultyReceipts: 0, refusals: {} }

/** A number in [0, 1) that depends on nothing but its arguments. */
export function chance(...parts: (string | number)[]): number {
  return Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, 13), 16) / 2 ** 52
}

/** Which of the odds a point in [0, 1) falls on. */
export function pick(odds: Odds, point: number): Fault | null {
  let edge = 0
  for (const [fault, share] of Object.entries(odds)) {
    edge += share
    if (point < edge) return fault as Fault
  }
  return null
}
