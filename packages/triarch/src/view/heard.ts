import type { DatedEvent } from '../kernel/rebuild.ts'

/** When each decision last had an event, and each type of event last occurred. */
export interface LastEvents {
  ids: ReadonlyMap<number, number>
  kinds: ReadonlyMap<string, number>
}

/** The same, extended as the history grows. */
export class GrowingHeard implements LastEvents {
  readonly ids: Map<number, number> = new Map()
  readonly kinds: Map<string, number> = new Map()

  add({ at, event }: DatedEvent): void {
    this.kinds.set(event.type, at)
    if ('id' in event && event.id !== undefined && event.type !== 'heartbeat') this.ids.set(event.id, at)
  }
}

export function heardOf(dated: readonly DatedEvent[]): LastEvents {
  const heard = new GrowingHeard()
  for (const one of dated) heard.add(one)
  return heard
}
