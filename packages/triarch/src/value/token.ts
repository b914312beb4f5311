import { isStorable } from './text.ts'

/** The step that a resume token refers to. The key changes with the step's input. */
export interface TokenContent {
  task: string
  step: number
  key: string
}

/**
 * A token's content before it is signed. It is the same for every attempt, so it can be issued repeatedly, or before the step is known to
 * be suspended.
 */
export function tokenText({ task, step, key }: TokenContent): string {
  return Buffer.from(JSON.stringify([task, step, key])).toString('base64url')
}

/** The content of a token whose signature is valid; null: it is malformed. */
export function tokenContent(text: string): TokenContent | null {
  const [task, step, key] = parsed(text)
  if (typeof task !== 'string' || !isStorable(task) || !Number.isSafeInteger(step) || typeof key !== 'string')
    return null
  return { task, step: step as number, key }
}

function parsed(text: string): unknown[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
