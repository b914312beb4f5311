import { sizeOf } from './size.ts'
import type { Turn } from './turn.ts'

/** Characters of JSON in one transition; a single event may have more. */
const LARGEST = 8 * 1024 * 1024

/** Whether the turn must end here; what is left to decide comes in the next turn. A small number of events is not measured. */
export function isFull(turn: Turn): boolean {
  const { load, events, limits } = turn
  if (turn.full) return true
  if (events.length * limits.payload < LARGEST) return false
  for (; load.events < events.length; load.events++) load.size += sizeOf(events[load.events])
  turn.full = load.size >= LARGEST
  return turn.full
}
