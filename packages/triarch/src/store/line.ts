import { toRecord } from '../error/record.ts'
import type { Json } from '../kernel/json.ts'
import type { SecretTexts } from '../kernel/secret.ts'
import { encode } from '../value/payload.ts'

/** What a line says, as it is kept. */
export interface LineText {
  message: string
  fields?: Json
  /** So many lines before it were dropped. */
  dropped?: number
}

/** Longest message (characters), and largest fields (bytes of JSON). What is more is cut off, or left out and said. */
export const LONGEST_MESSAGE = 4_096
export const LARGEST_FIELDS = 8_192
const MOST_FIELDS = 1_000

/** Whatever is given, a line comes of it. `secrets`: texts that it must not have. */
export function lineText(message: unknown, fields: unknown, secrets: SecretTexts, dropped = 0): string {
  // Cut after it is scrubbed: of half a secret nobody knows that it is one.
  const said = secrets.scrub(textOf(message))
  const about = secrets.scrub(fieldsOf(fields))
  const line: LineText = {
    message: said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE - 1)}…` : said,
    ...(about !== null && { fields: about }),
    ...(dropped > 0 && { dropped }),
  }
  return JSON.stringify(line)
}

/** Instead of lines that were dropped. */
export function droppedText(dropped: number): string {
  return JSON.stringify({ message: `${dropped} lines were dropped`, dropped } satisfies LineText)
}

/** Of a line that is not as it was written, what there is. */
export function lineOf(text: string): LineText {
  try {
    const line = JSON.parse(text) as Partial<LineText> | null
    if (typeof line?.message === 'string') return { ...line, message: line.message }
  } catch {
    // Somebody wrote into the store.
  }
  return { message: text }
}

function textOf(message: unknown): string {
  try {
    const text = typeof message === 'string' ? message : String(message)
    return text.length > 2 * LONGEST_MESSAGE ? text.slice(0, 2 * LONGEST_MESSAGE) : text
  } catch {
    return '?'
  }
}

/** Null: there are none. */
function fieldsOf(fields: unknown): Json {
  try {
    if (typeof fields !== 'object' || fields === null) return null
    const { length } = Array.isArray(fields) ? fields : Object.keys(fields)
    if (length === 0) return null
    if (length > MOST_FIELDS) return { omitted: `${length} fields, of at most ${MOST_FIELDS}` }
    const plain = Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? told(value) : value])
    return encode(Object.fromEntries(plain), 'fields', LARGEST_FIELDS)
  } catch (error) {
    return { omitted: toRecord(error).message }
  }
}

function told(error: Error): unknown {
  const { stack: _, ...record } = toRecord(error)
  return record
}
