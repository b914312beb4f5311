import type { QueueShare } from '../store/port.ts'
import type { AgentHost } from './host.ts'
import type { OpenQueue } from './lane.ts'

/** What to ask for, by the slots that are held of each host. */
export type Portion = (held: ReadonlyMap<string, number>) => QueueShare[]

interface Place {
  host: AgentHost
  /** Null: its agent's own, without bounds; undefined: nothing may be taken now. */
  queue: OpenQueue | null | undefined
}

/** Of these queues, one of each host. */
export function portionsOf(places: readonly Place[]): Portion[] {
  const most = Math.max(...places.map(({ host }) => host.limited.length))
  return Array.from({ length: most + 1 }, (_, index) => (held) => {
    return places.flatMap(({ host, queue }) => {
      if (queue === undefined || host.paused !== null) return []
      const slots = Math.min(held.get(host.name) ?? 0, queue?.most ?? Number.POSITIVE_INFINITY)
      const { limited } = host
      const action = index === 0 ? null : limited[index - 1]
      if (action === undefined) return []
      const agent = queue?.queue ?? host.name
      const seats = host.seats.none ? [] : host.seats.of(action, agent)
      return {
        agent,
        actions: action === null ? without(host.actions, limited) : [action],
        limit: Math.min(slots, host.room(action, agent)),
        ...(queue?.urgent && { urgent: true as const }),
        ...(seats.length > 0 && { seats }),
      }
    })
  })
}

function without(all: string[], some: readonly string[]): string[] {
  return some.length === 0 ? all : all.filter((one) => !some.includes(one))
}
