import { TriarchError } from '../error/error.ts'
import { entriesOf } from './options.ts'
import { checkMember, isStorable } from './text.ts'

/** Largest number of entries, and of bytes of all names and values together: twice the size of the largest trace context headers. */
const MOST_ENTRIES = 32
const MOST_BYTES = 16_384
const LONGEST_NAME = 200

/** A copy of the metadata: up to 32 texts. Throws INVALID_OPTION, PAYLOAD_TOO_LARGE. */
export function checkMetadata(what: string, given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TriarchError('INVALID_OPTION', `${what}: metadata must be an object of strings`)
  const entries = entriesOf(`${what}: metadata`, given)
  if (entries.length > MOST_ENTRIES)
    throw new TriarchError('INVALID_OPTION', `${what}: metadata has ${entries.length} entries, at most ${MOST_ENTRIES}`)
  let bytes = 0
  for (const [name, value] of entries) {
    if (name === '' || name.length > LONGEST_NAME || !isStorable(name))
      throw new TriarchError('INVALID_OPTION', `${what}: a name in metadata must have 1 to ${LONGEST_NAME} characters`)
    checkMember(`${what}: a name in metadata`, name)
    if (typeof value !== 'string' || !isStorable(value))
      throw new TriarchError('INVALID_OPTION', `${what}: metadata "${name}" must be a string, without NUL`)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  if (bytes > MOST_BYTES)
    throw new TriarchError('PAYLOAD_TOO_LARGE', `${what}: metadata has ${bytes} bytes, at most ${MOST_BYTES}`)
  return Object.fromEntries(entries) as Record<string, string>
}
