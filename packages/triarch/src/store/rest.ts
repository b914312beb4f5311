import { agentOfQueue } from './breaker.ts'
import { objectOf } from './legible.ts'

/** What the row of a rest holds: the service of an agent without a rate limit asked to be left alone. It lies beside those of breakers and limits. */
export interface StoredRest {
  format: 'rest-1'
  /** Nothing begins before (ms of the store's clock). */
  until: number
}

/** No agent, no breaker and no limit can be called so. */
export const RESTS = '~~'

/** The first text that is above all names of rests. */
export const END_OF_RESTS: string = `${RESTS}~`

/** The row of what rests in this queue; in the agent's own: whatever the key. */
export function restRow(queue: string): string {
  return RESTS + queue
}

/** The queue of which the row of this name says something. */
export function restOf(row: string): string {
  return row.slice(RESTS.length)
}

/** Until when (ms); 0: it cannot be read, or there is none. */
export function storedRest(text: string | null): number {
  const stored = text === null ? null : objectOf<StoredRest>(text)
  return stored?.format === 'rest-1' && Number.isFinite(stored.until) ? (stored.until as number) : 0
}

/** Rows that may say something of what waits in this queue. */
export function restRows(queue: string): string[] {
  const agent = agentOfQueue(queue)
  return queue === agent ? [restRow(agent)] : [restRow(agent), restRow(queue)]
}
