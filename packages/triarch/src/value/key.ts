import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'

const pattern = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/
/** As it is handed out: what made it, its name, and 32 bytes that nobody can guess. A name has no "_" in it. */
const form = /^triarch_([A-Za-z0-9][A-Za-z0-9.-]{0,62})_([\w-]{43})$/
/** Bytes of what nobody can guess. */
export const SECRET_BYTES = 32

/** The name of a key, when it is well formed. Throws INVALID_NAME. */
export function checkKeyName(name: unknown): string {
  if (typeof name === 'string' && pattern.test(name)) return name
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : `a value of type ${typeof name}`
  throw new TriarchError(
    'INVALID_NAME',
    `key: ${shown} is not allowed: use 1 to 63 letters, digits, "." or "-", beginning with a letter or digit`,
  )
}

/** The key as whoever uses it has it. */
export function keyText(name: string, secret: Buffer): string {
  return `triarch_${name}_${secret.toString('base64url')}`
}

/** Whose it would be, and what is kept of it; null: it is no key at all. */
export function readKey(text: unknown): { name: string; hash: string } | null {
  const [, name, secret] = (typeof text === 'string' && form.exec(text)) || []
  return name !== undefined && secret !== undefined ? { name, hash: keyHash(text as string) } : null
}

/** What is kept of a key. It has 256 bits of chance, so nobody can try them all: it needs no slow hash. */
export function keyHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
