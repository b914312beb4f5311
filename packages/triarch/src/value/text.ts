import { TriarchError } from '../error/error.ts'

/**
 * Whether every store keeps the text unchanged: PostgreSQL refuses NUL, and UTF-8 cannot encode half a surrogate pair. Payloads need no
 * check, because JSON escapes both.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** An id or a name that users choose: 1 to 200 characters, none of them a control character, no half surrogate pair. */
export function isIdentifier(text: unknown): text is string {
  return typeof text === 'string' && text.length > 0 && text.length <= 200 && !/\p{Cc}/u.test(text) && isStorable(text)
}

/** Returns the text if it is valid. Throws INVALID_OPTION. */
export function checkText(what: string, text: unknown, longest: number): string {
  if (typeof text === 'string' && text.length <= longest && isStorable(text)) return text
  const rule = `a string of at most ${longest.toLocaleString('en')} characters, without NUL and half surrogate pairs`
  throw new TriarchError('INVALID_OPTION', `${what} must be ${rule}`)
}

/** Refuses the one name of a member that copies of an object may lose or take for its prototype. Throws INVALID_OPTION. */
export function checkMember(what: string, name: string): void {
  if (name === '__proto__') throw new TriarchError('INVALID_OPTION', `${what} must not be "__proto__"`)
}
