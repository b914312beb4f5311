import type { DatedEvent } from '../kernel/rebuild.ts'

/** When each decision was last heard of, and each kind of event last happened. */
export interface Heard {
  ids: ReadonlyMap<number, number>
  kinds: ReadonlyMap<string, number>
}

export function heardOf(dated: readonly DatedEvent[]): Heard {
  const [ids, kinds] = [new Map<number, number>(), new Map<string, number>()]
  for (const { at, event } of dated) {
    kinds.set(event.type, at)
    if ('id' in event && event.id !== undefined && event.type !== 'heartbeat') ids.set(event.id, at)
  }
  return { ids, kinds }
}
