import { Backoff } from '../environment/backoff.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { StateStore } from '../store/port.ts'

/** Delay before the store is asked again after a failure: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000
/** How often a message is refused before it is given up: some twenty seconds, for a store may refuse everything for a while. */
const MAX_REFUSALS = 10

interface HandoverOptions {
  environment: Environment
  store: Pick<StateStore, 'post'>
  failed: (error: unknown) => void
}

/**
 * Posts what an owner knows of a task and could not record, as messages for the next owner. Retries until the store answers. A message
 * that the store refuses by itself, again and again, is given up: no owner could record it.
 */
export async function handOn(
  { environment, store, failed }: HandoverOptions,
  task: string,
  messages: readonly Message[],
): Promise<void> {
  const backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  let refusals = 0
  for (let parts: Message[][] = [[...messages]]; parts.length > 0; ) {
    const [part = []] = parts
    try {
      await store.post(part.map((message) => ({ task, message, control: false })))
      parts.shift()
      refusals = 0
    } catch (error) {
      if (isTriarchError(error, 'STORE_CLOSED')) return
      failed(error)
      if (isAway(error)) await delay(environment, backoff.next())
      else if (part.length === 1) {
        if (++refusals < MAX_REFUSALS) await delay(environment, backoff.next())
        else {
          parts.shift()
          refusals = 0
        }
      } else parts = [...part.map((message) => [message]), ...parts.slice(1)]
    }
  }
}

/** Whether the error means that the store cannot be reached at all at the moment, whatever the request. */
export function isAway(error: unknown): boolean {
  return (
    isTriarchError(error) && error.code.startsWith('STORE_') && !['STORE_FAILED', 'STORE_CLOSED'].includes(error.code)
  )
}
