import type { Message } from '../kernel/message.ts'
import type { NodeRuns } from './gate.ts'
import type { StepRequest } from './port.ts'

/**
 * The JSON text of a row that is read together with others. One that cannot be read may cost only its own answer, so nothing
 * here throws: undefined, what the text holds is no JSON.
 */
export function legible(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** An object, as most rows hold; null: the text holds none. */
export function objectOf<T extends object>(text: unknown): T | null {
  const found = legible(text)
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as T) : null
}

/** A list of texts, without what is none. */
export function textsOf(text: unknown): string[] {
  const found = legible(text)
  return Array.isArray(found) ? found.filter((it) => typeof it === 'string') : []
}

/** The message of a letter; `illegible`: its task is to be told, and nobody else. */
export function messageOf(text: unknown): Message {
  const message = objectOf<Message>(text)
  return typeof message?.type === 'string' ? message : { type: 'illegible' }
}

/** A request that cannot be read is made anew after so long (ms): whatever harms them might do so at once. */
export const ASK_AGAIN = 1_000

/** What a row of the work queue asks for; null: nobody can say. */
export function requestOf(text: unknown): StepRequest | null {
  const request = objectOf<StepRequest>(text)
  const { task, name, action, workflow, step, attempt } = request ?? {}
  const named = [task, name, action, workflow].every((it) => typeof it === 'string')
  return named && Number.isInteger(step) && Number.isInteger(attempt) ? request : null
}

/** What a node said it runs; null: it never did, or not legibly. */
export function runsOf<T extends NodeRuns>(text: unknown): T | null {
  const runs = objectOf<T>(text)
  return Array.isArray(runs?.workflows) && Array.isArray(runs.actions) ? runs : null
}

/** Tags of a row. */
export function tagsOf(text: unknown): Record<string, string> {
  return objectOf<Record<string, string>>(text) ?? {}
}
