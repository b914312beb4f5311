import { toRecord } from '../error/record.ts'
import type { Json } from '../kernel/json.ts'
import type { SecretTexts } from '../kernel/secret.ts'
import { encode } from '../value/payload.ts'

/** The text of a log line, as stored. */
export interface LineText {
  message: string
  fields?: Json
  /** How many lines before it were dropped. */
  dropped?: number
}

/**
 * The longest message (characters) and the largest fields (bytes of JSON). A longer message is cut; larger fields are
 * replaced by a note.
 */
export const LONGEST_MESSAGE = 4_096
export const LARGEST_FIELDS = 8_192
const MOST_FIELDS = 1_000

/** Makes a line of any arguments, without throwing. `secrets`: texts that the line must not contain. */
export function lineText(message: unknown, fields: unknown, secrets: SecretTexts, dropped = 0): string {
  // The message is cut after secrets are removed: half a secret would not be recognised.
  const said = secrets.scrub(textOf(message))
  const about = secrets.scrub(fieldsOf(fields))
  const line: LineText = {
    message: said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE - 1)}…` : said,
    ...(about !== null && { fields: about }),
    ...(dropped > 0 && { dropped }),
  }
  return JSON.stringify(line)
}

/** Returns the line that stands for dropped lines. */
export function droppedText(dropped: number): string {
  return JSON.stringify({ message: `${dropped} lines were dropped`, dropped } satisfies LineText)
}

/** Parses a line; if it is not in the expected form, its whole text becomes the message. */
export function parseLine(text: string): LineText {
  try {
    const line = JSON.parse(text) as Partial<LineText> | null
    if (typeof line?.message === 'string') return { ...line, message: line.message }
  } catch {
    // The row was written by something else.
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

/** Returns null if there are none. */
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
