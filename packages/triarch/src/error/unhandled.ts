import { isTriarchError, messageOf, TriarchError } from './error.ts'

/** The error for a promise rejection or exception that user code did not handle: `what` names the code. */
export function unhandled(what: string, cause: unknown): TriarchError {
  if (isTriarchError(cause, 'UNHANDLED_ERROR')) return cause
  return new TriarchError('UNHANDLED_ERROR', `${what} left an error behind that nobody handled: ${textOf(cause)}`, {
    cause,
  })
}

function textOf(cause: unknown): string {
  try {
    return messageOf(cause)
  } catch {
    return 'it cannot be read'
  }
}
