import { FairOrder } from '../flow/fair-order.ts'
import type { QueueHead, StateStore, WorkItem } from '../store/port.ts'
import type { Ask } from './queue-request.ts'

/** Requests inspected before some are taken: in all, and at least and usually in each queue. */
const SIGHT = 1_000
const LEAST_SIGHT = 2
const USUAL_SIGHT = 8
/** Queues inspected at a time; if there are more, each call continues with others. */
const MOST_QUEUES = 500
/** Most requests taken by one call. */
const MOST_TURNS = 100

/** What to take from each of several queues. */
export interface Ordered {
  asks: readonly Ask[]
  /** More requests wait than are asked for. */
  more: boolean
  /** Must be called with the requests that the queues gave. */
  gave(items: readonly WorkItem[]): void
}

/** Orders the queues of one agent's keys by the requests that wait in them. */
export class QueueOrder {
  readonly #store: Pick<StateStore, 'queueHeads'>
  /** The fair order by agent and action with a limit of its own. */
  readonly #turns = new Map<string, FairOrder>()
  #page = 0

  constructor(store: Pick<StateStore, 'queueHeads'>) {
    this.#store = store
  }

  /** `round`: rotates which of equal queues comes first. */
  async of(agent: string, asks: readonly Ask[], round: number): Promise<Ordered> {
    // A queue that a limit kept from being asked must not count as found empty.
    for (const { share, tight, narrow } of asks) if (tight && share.limit <= 0) narrow?.()
    const open = this.#some(asks.filter(({ share }) => share.limit > 0))
    const [first] = open
    const name = `${agent} ${asks[0]?.action ?? ''}`
    // With a single queue nothing waits elsewhere, so there is no imbalance to remember.
    if (asks.length === 1) this.#turns.delete(name)
    if (!first || open.length === 1) return { asks: open, more: false, gave: () => undefined }
    const most = Math.min(MOST_TURNS, first.most)
    if (most <= 0) return { asks: [], more: true, gave: () => undefined }
    const depth = Math.max(LEAST_SIGHT, Math.min(Math.max(USUAL_SIGHT, most), Math.floor(SIGHT / open.length)))
    const heads = await this.#store.queueHeads({ queues: open.map(({ share }) => share), depth })
    const turns = this.#turns.get(name) ?? new FairOrder()
    this.#turns.set(name, turns)
    const inSight = Map.groupBy(heads, ({ agent: queue }) => queue)
    const all = new Map(open.map((ask) => [ask.share.agent, ask]))
    const room = (queue: string) => all.get(queue)?.share.limit ?? 0
    const given = turns.of(heads, { most, room, round })
    const counts = new Map(given.map(({ queue, count }) => [queue, count]))
    for (const [queue, its] of inSight) if (its.length > (counts.get(queue) ?? 0)) all.get(queue)?.narrow?.()
    const ordered = given.flatMap(({ queue, count }): Ask[] => {
      const ask = all.get(queue)
      return ask ? [{ ...ask, share: { ...ask.share, limit: count } }] : []
    })
    const more = [...inSight].some(([queue, its]) => {
      const count = counts.get(queue) ?? 0
      // If all inspected requests of a queue are taken, more may wait there.
      return count < Math.min(its.length, room(queue)) || (count === depth && depth < room(queue))
    })
    return {
      asks: ordered,
      more,
      gave: (items) => {
        for (const item of items) turns.took(headOf(item))
      },
    }
  }

  #some(asks: readonly Ask[]): readonly Ask[] {
    if (asks.length <= MOST_QUEUES) return asks
    this.#page = (this.#page + MOST_QUEUES) % asks.length
    return [...asks.slice(this.#page), ...asks.slice(0, this.#page)].slice(0, MOST_QUEUES)
  }
}

function headOf({ agent, request: { rank = 0, share } }: WorkItem): QueueHead {
  return { agent, rank, share: share ?? null }
}
