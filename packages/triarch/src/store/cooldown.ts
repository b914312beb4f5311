import { agentOfQueue } from './breaker.ts'
import { objectOf } from './legible.ts'

/**
 * The content of a cooldown's row: the service of an agent without a rate limit asked for it. It is stored with circuit
 * breakers and rate limits.
 */
export interface StoredRest {
  format: 'rest-1'
  /** No attempt begins before this instant (ms of the store's clock). */
  until: number
}

/** Parses a row and returns the end of the cooldown (ms); 0 if it cannot be read, or there is none. */
export function storedRest(text: string | null): number {
  const stored = text === null ? null : objectOf<StoredRest>(text)
  return stored?.format === 'rest-1' && Number.isFinite(stored.until) ? (stored.until as number) : 0
}

/** Returns the names of the cooldowns that may apply to this queue: that of its agent applies to all keys. */
export function restsOver(queue: string): string[] {
  const agent = agentOfQueue(queue)
  return queue === agent ? [agent] : [agent, queue]
}
