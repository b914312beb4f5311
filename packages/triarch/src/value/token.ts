import { isStorable } from './text.ts'

/** Which step a resume token speaks of. The key changes when the step's input does. */
export interface TokenContent {
  task: string
  step: number
  key: string
}

/** Before it is signed. The same for every attempt: it can be handed out again, or before the step is known to be suspended. */
export function tokenText({ task, step, key }: TokenContent): string {
  return Buffer.from(JSON.stringify([task, step, key])).toString('base64url')
}

/** Of a token whose signature holds; null: it is none. */
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
