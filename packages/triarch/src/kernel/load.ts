import type { Json } from './json.ts'
import type { Turn } from './turn.ts'

/** Characters of JSON in one transition; a single event may have more. */
const LARGEST = 8 * 1024 * 1024

/** The turn is to end here: what is left to decide comes with the next. Few events are not even weighed. */
export function isFull(turn: Turn): boolean {
  const { load, events, limits } = turn
  if (turn.full) return true
  if (events.length * limits.payload < LARGEST) return false
  for (; load.events < events.length; load.events++) load.size += weigh(events[load.events] as unknown as Json)
  turn.full = load.size >= LARGEST
  return turn.full
}

/** About as many characters as its JSON has. */
function weigh(value: Json | undefined): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  let size = 2
  if (Array.isArray(value)) for (const item of value) size += weigh(item) + 1
  else for (const key in value) size += key.length + 4 + weigh(value[key])
  return size
}
