import { agentOfQueue } from './breaker.ts'
import { objectOf } from './legible.ts'

/** What the row of a rest holds: the service of an agent without a rate limit asked to be left alone. It lies beside those of breakers and limits. */
export interface StoredRest {
  format: 'rest-1'
  /** Nothing begins before (ms of the store's clock). */
  until: number
}

/** Until when (ms); 0: it cannot be read, or there is none. */
export function storedRest(text: string | null): number {
  const stored = text === null ? null : objectOf<StoredRest>(text)
  return stored?.format === 'rest-1' && Number.isFinite(stored.until) ? (stored.until as number) : 0
}

/** Names of the rests that may say something of what waits in this queue: the one of its agent is for all keys. */
export function restsOver(queue: string): string[] {
  const agent = agentOfQueue(queue)
  return queue === agent ? [agent] : [agent, queue]
}
