import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'

const pattern = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/
/** The text of a key: a prefix, the key's name, and 32 random bytes. Names cannot contain "_". */
const form = /^triarch_([A-Za-z0-9][A-Za-z0-9.-]{0,62})_([\w-]{43})$/
/** Random bytes in a key. */
export const SECRET_BYTES = 32

/** Returns the name of a key if it is valid. Throws INVALID_NAME. */
export function checkKeyName(name: unknown): string {
  if (typeof name === 'string' && pattern.test(name)) return name
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : `a value of type ${typeof name}`
  throw new TriarchError(
    'INVALID_NAME',
    `key: ${shown} is not allowed: use 1 to 63 letters, digits, "." or "-", beginning with a letter or digit`,
  )
}

/** The text of a key, as its user gets it. */
export function keyText(name: string, secret: Buffer): string {
  return `triarch_${name}_${secret.toString('base64url')}`
}

/** The name and the hash of a key text; null: it has not the form of a key. */
export function readKey(text: unknown): { name: string; hash: string } | null {
  const [, name, secret] = (typeof text === 'string' && form.exec(text)) || []
  return name !== undefined && secret !== undefined ? { name, hash: keyHash(text as string) } : null
}

/** The hash under which a key is stored. The key has 256 random bits and cannot be guessed, so no slow hash is needed. */
export function keyHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
