import type { OpenQueue } from '../flow/local-breaker.ts'
import type { QueueShare } from '../store/port.ts'
import type { AgentHost } from './host.ts'

/** What to take from one queue. */
export interface Ask {
  readonly share: QueueShare
  /** The action with a limit of its own; null: all other actions. */
  readonly action: string | null
  /** The most that all queues of the agent may give together. */
  readonly most: number
  /** A limit allows fewer attempts than there are slots and passes for. */
  readonly tight: boolean
  /** Called when more may wait in the queue than there was room for. */
  readonly narrow?: () => void
}

/** What to take in one step: one queue of each agent, or several queues of one agent. */
export interface QueueRequest {
  /** The queues to ask, given the slots held of each host. */
  asks(held: ReadonlyMap<string, number>): Ask[]
  /** The agent, if these are its queues by keys, which must be ordered by what waits in them; null: one queue of each agent. */
  readonly agent: string | null
}

interface QueueRoom {
  host: AgentHost
  /** Null: the agent's own queue, without gates; undefined: nothing may be taken now. */
  queue: OpenQueue | null | undefined
}

/** Requests for these queues: one of each host, or several of one (`agent`). */
export function queueRequestsOf(places: readonly QueueRoom[], agent: string | null = null): QueueRequest[] {
  const most = Math.max(...places.map(({ host }) => host.limited.length))
  // High and low ranks are asked one after the other: asked together, they could exceed what a breaker or limit still allows.
  const pools = places.some(({ host }) => host.slots.parted !== null) ? 2 : 1
  return Array.from({ length: (most + 1) * pools }, (_, number) => {
    const [index, high] = [Math.floor(number / pools), number % pools === 0]
    return { agent, asks: (held) => places.flatMap((place) => askOf(place, index, high, held)) }
  })
}

function askOf({ host, queue }: QueueRoom, index: number, high: boolean, held: ReadonlyMap<string, number>): Ask[] {
  if (queue === undefined || host.paused !== null) return []
  const { parted } = host.slots
  if (parted === null && !high) return []
  const ranks = parted === null ? null : high ? { least: parted } : { below: parted }
  const pool = parted === null ? Number.POSITIVE_INFINITY : host.slots.roomAt(high ? parted : parted - 1)
  const own = held.get(host.name) ?? 0
  const slots = Math.min(own, queue?.most ?? Number.POSITIVE_INFINITY)
  const { limited } = host
  const action = index === 0 ? null : limited[index - 1]
  if (action === undefined || (action !== null && queue?.only?.(action) === false)) return []
  const agent = queue?.queue ?? host.name
  if (host.isCoolingDown(agent)) return []
  const seats = host.sharedConcurrency.isUnlimited ? [] : host.sharedConcurrency.limitsFor(action, agent)
  const room = Math.min(pool, host.room(action, agent))
  const share: QueueShare = {
    agent,
    actions: action === null ? without(host.actions, limited).filter(queue?.only ?? Boolean) : [action],
    limit: Math.min(slots, room),
    ...(queue?.urgent && { urgent: true as const }),
    ...(seats.length > 0 && { seats }),
    ...(ranks && { ranks }),
  }
  const together = queue === null ? own : Math.min(own, pool, host.room(action, host.name))
  const narrow = queue?.narrow ? () => narrowed(queue, host.rateLimiter, action) : undefined
  return [{ share, action, most: together, tight: room < slots, ...(narrow && { narrow }) }]
}

function narrowed({ queue, narrow }: OpenQueue, pace: AgentHost['rateLimiter'], action: string | null): void {
  narrow?.()
  pace?.seek(action, queue)
}

function without(all: string[], some: readonly string[]): string[] {
  return some.length === 0 ? all : all.filter((one) => !some.includes(one))
}
