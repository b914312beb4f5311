import { TriarchError } from '../error/error.ts'
import { isStorable } from './text.ts'

/** Which step a resume token speaks of. The key changes when the step's input does. */
export interface TokenContent {
  task: string
  step: number
  key: string
}

/** The same for every attempt: it can be handed out again, or before the step is known to be suspended. */
export function newToken({ task, step, key }: TokenContent): string {
  return Buffer.from(JSON.stringify([task, step, key])).toString('base64url')
}

/** Throws INVALID_TOKEN. */
export function readToken(token: string): TokenContent {
  const [task, step, key] = parsed(token)
  if (typeof task === 'string' && isStorable(task) && Number.isSafeInteger(step) && typeof key === 'string')
    return { task, step: step as number, key }
  throw new TriarchError('INVALID_TOKEN', 'this is not a resume token: give what step.token was')
}

function parsed(token: string): unknown[] {
  try {
    if (typeof token !== 'string') return []
    const found: unknown = JSON.parse(Buffer.from(token, 'base64url').toString())
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
