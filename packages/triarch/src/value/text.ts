import { TriarchError } from '../error/error.ts'

/**
 * Whether every store keeps the text as it is: PostgreSQL takes no NUL, and in UTF-8 half a surrogate pair becomes something
 * else. Payloads need not ask: in JSON both are escaped.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** An id or a name that users choose: 1 to 200 characters, none of them a control character, no half surrogate pair. */
export function isIdentifier(text: unknown): text is string {
  return typeof text === 'string' && text.length > 0 && text.length <= 200 && !/\p{Cc}/u.test(text) && isStorable(text)
}

/** The text itself. Throws INVALID_OPTION. */
export function checkText(what: string, text: unknown, longest: number): string {
  if (typeof text === 'string' && text.length <= longest && isStorable(text)) return text
  const rule = `a string of at most ${longest.toLocaleString('en')} characters, without NUL and half surrogate pairs`
  throw new TriarchError('INVALID_OPTION', `${what} must be ${rule}`)
}
