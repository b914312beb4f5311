import type { ErrorRecord, Json } from '../kernel/json.ts'
import { isErrorCode } from './catalogue.ts'
import { detailsOf } from './details.ts'
import { TriarchError } from './error.ts'

/** Longest recorded message and stack, in characters. */
const LONGEST = 8192
/** Longest recorded name and code, in characters. */
const LONGEST_NAME = 200
const DEEPEST_CAUSE = 5

/** The error classes of this folder. An error of another class may have one of our codes by chance. */
const ownNames: ReadonlySet<string> = new Set([
  'TriarchError',
  'TaskFailedError',
  'TaskCancelledError',
  'TaskCompensatedError',
  'TaskExpiredError',
  'StepFailedError',
  'SignalTimeoutError',
  'ChildFailedError',
])

/** Converts anything that was thrown to plain bounded data, with its causes nested (at most five) and its details cut. Never throws. */
export function toRecord(error: unknown): ErrorRecord {
  return convert(error, 0, new Set())
}

function convert(thrown: unknown, depth: number, seen: Set<unknown>): ErrorRecord {
  if (typeof thrown !== 'object' || thrown === null) return { name: 'Error', message: `Thrown: ${describe(thrown)}` }
  seen.add(thrown)
  const name = text(read(thrown, 'name'), LONGEST_NAME) || 'Error'
  const record: ErrorRecord = { name, message: text(read(thrown, 'message'), LONGEST) ?? `Thrown: ${describe(thrown)}` }
  const code = read(thrown, 'code')
  const codeText = text(typeof code === 'number' ? String(code) : code, LONGEST_NAME)
  if (codeText !== undefined) record.code = codeText
  const stack = text(read(thrown, 'stack'), LONGEST)
  if (stack !== undefined) record.stack = stack
  const cause = read(thrown, 'cause') ?? firstOf(read(thrown, 'errors'))
  if (cause !== undefined && depth < DEEPEST_CAUSE && !seen.has(cause)) record.cause = convert(cause, depth + 1, seen)
  const details = detailsOf(read(thrown, 'details'))
  if (details !== undefined) record.details = details
  return record
}

/** The error that a record describes: a TriarchError if it was one, else an Error with the same name, message and stack. */
export function fromRecord(record: ErrorRecord): Error {
  const { code, name, details } = record
  const options: { cause?: unknown; details?: Json } = {}
  if (record.cause !== undefined) options.cause = fromRecord(record.cause)
  if (details !== undefined) options.details = details
  const own = isErrorCode(code) && ownNames.has(name)
  const error = own ? new TriarchError(code, record.message, options) : new Error(record.message, options)
  if (!own && code !== undefined) Object.assign(error, { code })
  if (!own && details !== undefined) Object.assign(error, { details })
  if (error.name !== name) define(error, 'name', name)
  define(error, 'stack', record.stack ?? `${name}: ${record.message}`)
  return error
}

function define(error: Error, key: string, value: string): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false })
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function firstOf(list: unknown): unknown {
  try {
    return Array.isArray(list) ? list[0] : undefined
  } catch {
    return undefined
  }
}

function text(value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.length <= longest ? value : `${value.slice(0, longest - 1).toWellFormed()}…`
}

/** A short text for a thrown value that is not an Error. */
function describe(value: unknown): string {
  try {
    const plain = typeof value === 'object' && value !== null ? JSON.stringify(detailsOf(value)) : String(value)
    return text(plain, LONGEST / 8) ?? typeof value
  } catch {
    return `something that cannot be shown (${typeof value})`
  }
}
