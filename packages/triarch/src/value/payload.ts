import { types } from 'node:util'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { type SecretPaths, secretsAt } from '../kernel/secret.ts'
import { isPromise } from './answer.ts'
import { formatPath } from './path.ts'

/** Largest payload unless configured otherwise, in bytes of UTF-8 JSON. */
export const DEFAULT_PAYLOAD_LIMIT: number = 256 * 1024

export const DEEPEST = 256
const USUAL_DEPTH = 4

/**
 * Largest number, and total characters, of secret texts of one payload, because every view of a task searches each of its texts for each of
 * them.
 */
const MOST_SECRETS = 10_000
const LARGEST_SECRETS = 1024 * 1024

/**
 * An isolated copy of the value, exactly as JSON would return it, so that live execution and replay see the same. `what` names the value in
 * errors, `limit` is in bytes of UTF-8 JSON. Values that JSON would silently drop or distort (functions, NaN, a Map, a forgotten promise …)
 * are refused. `secrets`: paths of secrets, whose texts are searched for in everything that is shown, and are therefore bounded. Throws
 * UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS.
 */
export function encode(value: unknown, what: string, limit: number, secrets: SecretPaths = []): Json {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? null
  const walk = new Walk(what, limit)
  try {
    const copy = walk.visit(value) ?? null
    walk.measure(copy)
    checkSecretTexts(copy, what, secrets)
    return copy
  } catch (error) {
    if (isTriarchError(error)) throw error
    throw walk.unserialisable('cannot be read', error)
  }
}

/** Whether the value is large enough to contain more secrets than allowed, at five characters each, so that its paths must be checked. */
export function mayHideTooMany(copy: Json): boolean {
  return typeof copy === 'object' && copy !== null && JSON.stringify(copy).length >= MOST_SECRETS * 5
}

/** Checks the bounds of the secrets in a value. Throws TOO_MANY_SECRETS. */
export function checkSecretTexts(copy: Json, what: string, secrets: SecretPaths): void {
  if (secrets.length === 0) return
  const texts = secretsAt(copy, secrets)
  let bytes = 0
  for (const text of texts) bytes += Buffer.byteLength(text)
  if (texts.size <= MOST_SECRETS && bytes <= LARGEST_SECRETS) return
  const message = `${what} has ${texts.size} texts of ${bytes} bytes that are marked as secret; the limit is ${MOST_SECRETS} of ${LARGEST_SECRETS} bytes`
  const details = { texts: texts.size, bytes, limits: { texts: MOST_SECRETS, bytes: LARGEST_SECRETS } }
  throw new TriarchError('TOO_MANY_SECRETS', message, { details })
}

/** One traversal of a value. The path is kept as a stack and only formatted when an error needs it. */
class Walk {
  readonly #what: string
  readonly #limit: number
  /** The value's JSON has at least `#lower` and at most `#upper` bytes. */
  #lower = 0
  #upper = 0
  #depth = 0
  // Preallocated to the usual depth: an array that grows from empty reserves room for seventeen elements.
  readonly #keys: (string | number)[] = new Array(USUAL_DEPTH)
  readonly #ancestors: object[] = new Array(USUAL_DEPTH)

  constructor(what: string, limit: number) {
    this.#what = what
    this.#limit = limit
  }

  /** The copy of a value; undefined if JSON omits it. */
  visit(value: unknown): Json | undefined {
    switch (typeof value) {
      case 'string':
        this.#count(value.length + 2, value.length * 6 + 2)
        return value
      case 'number':
        if (!Number.isFinite(value)) throw this.unserialisable(`is ${value}`)
        this.#count(1, 25)
        return value + 0
      case 'boolean':
        this.#count(4, 5)
        return value
      case 'undefined':
        return undefined
      case 'object':
        if (value !== null) return this.#object(value)
        this.#count(4, 4)
        return null
      default:
        throw this.unserialisable(`is a ${typeof value}`)
    }
  }

  /** Throws PAYLOAD_TOO_LARGE if the copy exceeds the limit; exact, but cheap if the copy is clearly smaller. */
  measure(copy: Json): void {
    if (this.#upper <= this.#limit) return
    const bytes = Buffer.byteLength(JSON.stringify(copy))
    if (bytes > this.#limit) throw this.#tooLarge(`${bytes}`, bytes)
  }

  unserialisable(problem: string, cause?: unknown): TriarchError {
    const path = formatPath(this.#what, this.#keys.slice(0, this.#depth))
    const options = cause === undefined ? { details: { path } } : { details: { path }, cause }
    return new TriarchError('UNSERIALISABLE', `${path} ${problem}, which cannot be stored as JSON`, options)
  }

  #object(value: object): Json | undefined {
    if (Array.isArray(value)) return this.#array(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) this.#refuseBinary(value)
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function')
      return this.#converted(toJSON.call(value, String(this.#keys[this.#depth - 1] ?? '')))
    if (prototype === Object.prototype || prototype === null) return this.#record(value)
    return this.#instance(value)
  }

  /** Copies the result of toJSON, on which JSON does not call toJSON again. */
  #converted(value: unknown): Json | undefined {
    if (typeof value !== 'object' || value === null) return this.visit(value)
    if (Array.isArray(value)) return this.#array(value)
    this.#refuseBinary(value)
    return this.#instance(value)
  }

  #refuseBinary(value: object): void {
    if (ArrayBuffer.isView(value)) throw this.unserialisable(`is binary data (${kindOf(value)}: encode it as a string)`)
    if (types.isDate(value) && Number.isNaN(value.getTime())) throw this.unserialisable('is an invalid Date')
  }

  #instance(value: object): Json | undefined {
    if (types.isNumberObject(value) || types.isStringObject(value) || types.isBooleanObject(value)) {
      return this.visit(value.valueOf())
    }
    if (isPromise(value)) throw this.unserialisable('is a promise (is an await missing?)')
    if (isOpaque(value)) throw this.unserialisable(`is of class ${kindOf(value)}`)
    return this.#record(value)
  }

  #array(value: readonly unknown[]): Json[] {
    this.#enter(value)
    const length = value.length >>> 0 // a proxy may return anything
    if (this.#lower + length * 2 > this.#limit) throw this.#tooLarge(`more than ${this.#limit}`, null)
    this.#count(length + 1, length + 2)
    const copy: Json[] = []
    for (let index = 0; index < length; index++) {
      this.#keys[this.#depth - 1] = index
      const item = this.visit(value[index])
      if (item === undefined) this.#count(4, 4)
      copy.push(item === undefined ? null : item)
    }
    this.#depth--
    return copy
  }

  #record(value: object): { [key: string]: Json } {
    this.#enter(value)
    this.#count(1, 2)
    const copy: { [key: string]: Json } = {}
    for (const key of Object.keys(value)) {
      this.#keys[this.#depth - 1] = key
      const item = this.visit((value as Record<string, unknown>)[key])
      if (item === undefined) continue
      this.#count(key.length + 4, key.length * 6 + 4)
      if (key === '__proto__') Object.defineProperty(copy, key, { value: item, ...data })
      else copy[key] = item
    }
    this.#depth--
    return copy
  }

  #enter(value: object): void {
    const depth = this.#depth
    if (depth >= DEEPEST) throw this.unserialisable(`is nested deeper than ${DEEPEST} levels`)
    for (let index = 0; index < depth; index++) {
      if (this.#ancestors[index] === value) throw this.unserialisable('contains itself')
    }
    this.#ancestors[depth] = value
    this.#depth = depth + 1
  }

  #count(lower: number, upper: number): void {
    this.#lower += lower
    this.#upper += upper
    if (this.#lower > this.#limit) throw this.#tooLarge(`more than ${this.#limit}`, null)
  }

  #tooLarge(size: string, bytes: number | null): TriarchError {
    const message = `${this.#what} has ${size} bytes as JSON; the limit is ${this.#limit} bytes`
    return new TriarchError('PAYLOAD_TOO_LARGE', message, { details: { bytes, limit: this.#limit } })
  }
}

const data = { enumerable: true, configurable: true, writable: true }

/** Objects whose content is not in their properties, which JSON turns into `{}`. */
function isOpaque(value: object): boolean {
  return (
    Error.isError(value) ||
    types.isPromise(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isRegExp(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    types.isGeneratorObject(value) ||
    types.isBoxedPrimitive(value) ||
    value instanceof WeakRef
  )
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}
