import type { Message } from '../kernel/message.ts'
import type { NodeRuns } from './gate.ts'
import type { StepRequest } from './port.ts'

/**
 * Parses the JSON text of a row that is read together with others. A row that cannot be read must not fail the other
 * rows, so nothing here throws: returns undefined if the text is not JSON.
 */
export function legible(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** Parses an object, as most rows hold; null if the text is none. */
export function objectOf<T extends object>(text: unknown): T | null {
  const found = legible(text)
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as T) : null
}

/** Parses a list of texts; other elements are left out. */
export function textsOf(text: unknown): string[] {
  const found = legible(text)
  return Array.isArray(found) ? found.filter((it) => typeof it === 'string') : []
}

/** Parses a message of an inbox; one that cannot be read becomes `illegible`, which affects only its own task. */
export function parseMessage(text: unknown): Message {
  const message = objectOf<Message>(text)
  return typeof message?.type === 'string' ? message : { type: 'illegible' }
}

/** How long a request that cannot be read waits before its task makes it again (ms): its cause may damage the next one at once. */
export const ASK_AGAIN = 1_000

/** Parses the request of a row of the work queue; null if it cannot be read. */
export function parseRequest(text: unknown): StepRequest | null {
  const request = objectOf<StepRequest>(text)
  const { task, name, action, workflow, step, attempt } = request ?? {}
  const named = [task, name, action, workflow].every((it) => typeof it === 'string')
  return named && Number.isInteger(step) && Number.isInteger(attempt) ? request : null
}

/** Parses what a node reported that it runs; null if it never did, or if that cannot be read. */
export function runsOf<T extends NodeRuns>(text: unknown): T | null {
  const runs = objectOf<T>(text)
  return Array.isArray(runs?.workflows) && Array.isArray(runs.actions) ? runs : null
}

/** Parses the tags of a row. */
export function tagsOf(text: unknown): Record<string, string> {
  return objectOf<Record<string, string>>(text) ?? {}
}
