import { FairOrder } from '../flow/fair-order.ts'
import type { QueueHead, StateStore, WorkItem } from '../store/port.ts'
import type { Ask } from './queue-request.ts'

/** Requests that are looked at before some are taken, in all; and of each queue, whatever there is room for. */
const SIGHT = 1_000
const LEAST_SIGHT = 2
const USUAL_SIGHT = 8
/** Queues that are looked at: of more, others each time. */
const MOST_QUEUES = 500
/** Most that is taken by one look. */
const MOST_TURNS = 100

/** What to ask of each of several queues, and what they are told of it. */
export interface Ordered {
  asks: readonly Ask[]
  /** More waits than is asked for. */
  more: boolean
  /** Told what they gave. */
  gave(items: readonly WorkItem[]): void
}

/** In which order the queues of one agent's keys are asked: by what waits in them. */
export class QueueOrder {
  readonly #store: Pick<StateStore, 'queueHeads'>
  /** By the agent, and the action that has bounds of its own. */
  readonly #turns = new Map<string, FairOrder>()
  #page = 0

  constructor(store: Pick<StateStore, 'queueHeads'>) {
    this.#store = store
  }

  /** `round`: of equals another comes first each time. */
  async of(agent: string, asks: readonly Ask[], round: number): Promise<Ordered> {
    // What a bound keeps from being asked was not found empty.
    for (const { share, tight, narrow } of asks) if (tight && share.limit <= 0) narrow?.()
    const open = this.#some(asks.filter(({ share }) => share.limit > 0))
    const [first] = open
    const name = `${agent} ${asks[0]?.action ?? ''}`
    // Nobody waits elsewhere: whoever had more than others took it from nobody.
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
      // All that was in sight of a queue may not be all that waits there.
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
