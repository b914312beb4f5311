import type { QueueShare } from '../store/port.ts'
import type { AgentHost } from './host.ts'
import type { OpenQueue } from './lane.ts'

/** What to ask of one queue. */
export interface Ask extends QueueShare {
  /** Told when it gave all of that, where a bound lets less begin than there are slots and passes for. */
  narrow?: () => void
}

/** What to ask for, by the slots that are held of each host. */
export type Portion = (held: ReadonlyMap<string, number>) => Ask[]

interface Place {
  host: AgentHost
  /** Null: its agent's own, without bounds; undefined: nothing may be taken now. */
  queue: OpenQueue | null | undefined
}

/** Of these queues, one of each host. */
export function portionsOf(places: readonly Place[]): Portion[] {
  const most = Math.max(...places.map(({ host }) => host.limited.length))
  // One pool after the other: together they could take more than is left, by a breaker or a limit, and leave one of them nothing.
  const pools = places.some(({ host }) => host.slots.parted !== null) ? 2 : 1
  return Array.from({ length: (most + 1) * pools }, (_, number) => (held) => {
    const [index, high] = [Math.floor(number / pools), number % pools === 0]
    return places.flatMap(({ host, queue }) => {
      if (queue === undefined || host.paused !== null) return []
      const { parted } = host.slots
      if (parted === null && !high) return []
      const ranks = parted === null ? null : high ? { least: parted } : { below: parted }
      const pool = parted === null ? Number.POSITIVE_INFINITY : host.slots.roomAt(high ? parted : parted - 1)
      const slots = Math.min(held.get(host.name) ?? 0, queue?.most ?? Number.POSITIVE_INFINITY)
      const { limited } = host
      const action = index === 0 ? null : limited[index - 1]
      if (action === undefined || (action !== null && queue?.only?.(action) === false)) return []
      const agent = queue?.queue ?? host.name
      const seats = host.seats.none ? [] : host.seats.of(action, agent)
      const room = Math.min(pool, host.room(action, agent))
      return {
        agent,
        actions: action === null ? without(host.actions, limited).filter(queue?.only ?? Boolean) : [action],
        limit: Math.min(slots, room),
        ...(queue?.urgent && { urgent: true as const }),
        ...(seats.length > 0 && { seats }),
        ...(ranks && { ranks }),
        ...(queue?.narrow && room < slots && { narrow: () => narrowed(queue, host.pace, action) }),
      }
    })
  })
}

function narrowed({ queue, narrow }: OpenQueue, pace: AgentHost['pace'], action: string | null): void {
  narrow?.()
  pace?.seek(action, queue)
}

function without(all: string[], some: readonly string[]): string[] {
  return some.length === 0 ? all : all.filter((one) => !some.includes(one))
}
